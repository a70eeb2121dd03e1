//! HAProxy before the nodes, with the configuration that `src/storage/README.md` recommends.

use std::fs;
use std::path::Path;

use tokio_postgres::NoTls;
use xtask::workspace::in_file;

use super::nodes::{Nodes, local};
use super::{CLUSTER, NODES};
use kit::postgres::free_port;

const PAGE: &str = include_str!("../../../../../src/storage/README.md");

/// Starts HAProxy with links of its own, from `name`. Returns the address that leads to the primary.
pub(super) fn start(nodes: &Nodes<'_>, name: &str) -> Result<String, String> {
    let begin = "```\nlisten animals\n";
    let block = PAGE.split_once(begin).and_then(|(_, rest)| rest.split_once("```"));
    let (block, _) =
        block.ok_or("src/storage/README.md: expected a configuration that begins with `listen animals`")?;
    let address = local(free_port());
    let mut configuration = replaced(&format!("listen animals\n{block}"), "127.0.0.1:5000", &address)?;
    for node in 0..NODES {
        let server = nodes.link(name, "postgres", node, &nodes.ports.postgres);
        let agent = nodes.link(name, "agent", node, &nodes.ports.agents);
        let port = agent.rsplit_once(':').map_or("", |(_, port)| port);
        let on_page = format!("10.0.0.{}:5432 check port 8008", node + 1);
        configuration = replaced(&configuration, &on_page, &format!("{server} check port {port}"))?;
    }
    let directory = format!("{CLUSTER}/haproxy");
    let file = nodes.home.create(&directory)?.join("haproxy.cfg");
    fs::write(&file, configuration).map_err(in_file(&file))?;
    let mut command = nodes.home.command(Path::new("haproxy"));
    nodes.home.start(&directory, command.args(["-db", "-f", "haproxy.cfg"]))?;
    // Until its checks have failed, it uses the standbys in turn.
    let url = format!("postgres://postgres@{address}/postgres");
    let is_primary = |_| nodes.runtime.block_on(is_primary(&url)).unwrap_or(false);
    nodes.wait("HAProxy", || (0..2 * NODES).all(is_primary).then_some(()))?;
    Ok(address)
}

/// Whether a new connection leads to the primary.
async fn is_primary(url: &str) -> Result<bool, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    client.query_one("SELECT NOT pg_is_in_recovery()", &[]).await?.try_get(0)
}

/// Replaces a part of the configuration, which it must have once.
fn replaced(configuration: &str, part: &str, with: &str) -> Result<String, String> {
    match configuration.matches(part).count() {
        1 => Ok(configuration.replace(part, with)),
        count => Err(format!(
            "src/storage/README.md: expected {part} once in the configuration, not {count} times"
        )),
    }
}
