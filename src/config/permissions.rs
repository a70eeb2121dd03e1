//! Files with secrets that every user of the machine can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Returns a warning if users other than the owner and the group of a file can read it; `None` if there is
/// no such file.
pub(super) fn readable_by_others(what: &str, path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let path = path.display();
    (file.permissions().mode() & 0o004 != 0)
        .then(|| format!("every user of this machine can read the {what} {path}; run chmod o-rwx {path}"))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn only_a_file_that_every_user_can_read_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let warning = |mode: u32| {
            std::fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            readable_by_others("private key", file.path())
        };
        for mode in [0o600, 0o640, 0o400, 0o750] {
            assert_eq!(warning(mode), None, "{mode:o}");
        }
        let line = warning(0o644).unwrap();
        assert!(line.contains("private key") && line.contains("chmod o-rwx"), "{line}");
        assert!(line.contains(&file.path().display().to_string()), "{line}");
        assert_eq!(readable_by_others("private key", Path::new("no/such/file")), None);
    }
}
