//! The Markdown pages of the repository: every relative link leads to a file, and every fragment to a heading.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

/// Returns the pages that git tracks or would add, relative to the root.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"]).current_dir(root);
    let listed = list.output().unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.lines().map(PathBuf::from).filter(|page| root.join(page).exists()).collect()
}

/// Returns the fragments of the headings, as GitHub forms them.
fn fragments(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let fragment = |heading: &str| heading.trim().to_lowercase().replace(|letter| !kept(letter), "");
    headings.map(|line| fragment(line.trim_start_matches('#')).replace(' ', "-")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    let mut seen = 0;
    for page in pages(&root) {
        let text = fs::read_to_string(root.join(&page)).unwrap();
        for target in link.captures_iter(&text).map(|found| found.extract::<1>().1[0]) {
            if target.contains("://") {
                continue;
            }
            seen += 1;
            let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
            let file = match file {
                "" => root.join(&page),
                file => root.join(&page).with_file_name(file),
            };
            let heading = || fragments(&fs::read_to_string(&file).unwrap()).iter().any(|it| it == fragment);
            if !file.exists() || !(fragment.is_empty() || heading()) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(seen > 0, "the pages have links");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}
