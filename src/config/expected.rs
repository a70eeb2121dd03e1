//! The valid values of each setting, for messages.

/// Returns the valid values of a setting, with an example.
pub(super) fn expected(key: &str) -> &'static str {
    match key {
        "bind" => "an address such as \"127.0.0.1:8080\", or a port such as 8080",
        "ops_bind" => "an address such as \"127.0.0.1:9090\", or a port such as 9090",
        "ops_hosts" => "a list of host names such as [\"store.internal\"]",
        "database" => {
            "sqlite:PATH, such as \"sqlite:animal-store.db\", or postgres://USER:PASSWORD@HOST:PORT/DATABASE, \
             with %40 for an @ in the password"
        }
        "database_file" => "the path of a file with a database URL, such as \"/run/secrets/database-url\"",
        "request_timeout" => "a duration longer than zero, such as \"10s\"",
        "shutdown_delay" => "a duration such as \"5s\"",
        "shutdown_grace" => "a duration such as \"8s\"",
        "lock_timeout" => "a duration such as \"2s\"",
        "write_queue" => "a number from 1 to 1000000, such as 4096",
        "postgres" => "a table such as `[postgres]` with `readers = 8`",
        "postgres.readers" => "a number from 1 to 100, such as 8",
        "postgres.writers" => "a number from 1 to 100, such as 4",
        "postgres.connect_timeout" => "a duration from 100ms to 1h, such as \"2s\"",
        "postgres.statement_timeout" => "a duration from 100ms to 1h, such as \"3500ms\"",
        "log" => "a table such as `[log]` with `level = \"info\"`",
        "log.level" => "\"error\", \"warning\", \"info\", \"debug\" or \"trace\"",
        "log.format" => "\"text\" or \"json\"",
        "log.one_in" => "a number such as 1 for every response, 100 for one in a hundred, 0 for none",
        "connections" => "a table such as `[connections]` with `max = 10000`",
        "connections.max" => "a number from 1, such as 10000",
        "connections.memory_mib" => {
            "a number of MiB, at least that of `connections.memory_without_key_mib`, such as 192"
        }
        "connections.memory_without_key_mib" => "a number of MiB from 8, such as 96",
        "connections.handshake_timeout" | "connections.header_timeout" => {
            "a duration longer than zero, such as \"10s\""
        }
        "connections.idle_timeout" => "a duration longer than zero, such as \"60s\"",
        "connections.send_timeout" | "connections.read_timeout" => {
            "a duration longer than zero, such as \"30s\""
        }
        "rate_limit" => "a table such as `[rate_limit]` with `requests = 100` and `period = \"1s\"`",
        "rate_limit.requests" => "a number from 1, such as 100",
        "rate_limit.period" => "whole seconds, at least one, such as \"1s\"",
        "tls" => "a table such as `[tls]` with `certificate = \"cert.pem\"` and `private_key = \"key.pem\"`",
        "tls.certificate" => "a certificate chain in PEM, such as \"cert.pem\"",
        "tls.private_key" => "a private key in PEM, such as \"key.pem\"",
        _ => "a setting that `animal-store config` prints, such as `bind = \"127.0.0.1:8080\"`",
    }
}
