//! The files that the service publishes: the document, its releases, and the pages, compressed.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use site::File;

/// Higher levels take 10 to 20 times as long, and make the largest file smaller by a tenth.
const BROTLI_LEVEL: i32 = 9;

/// Returns the files of a directory of releases.
///
/// # Errors
/// The directory or a file cannot be read.
pub(crate) fn releases(directory: &Path) -> io::Result<Vec<File>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().into_string().unwrap_or_default();
        let is_document = [".yaml", ".json"].iter().any(|extension| name.ends_with(extension));
        // The list of checksums grows with each release.
        if is_document || name.ends_with("SUMS") {
            let content = fs::read(directory.join(&name))?;
            files.push(File { path: format!("openapi/{name}"), content, is_immutable: is_document });
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Writes a file and its compressed contents to `site` in the output directory. Returns the expression of the type `File`
/// of `src/document.rs`.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(output: &Path, file: &File) -> io::Result<String> {
    let path = output.join("site").join(&file.path);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(&path, &file.content)?;
    let compressed = [("gz", gzip(&file.content)?), ("br", brotli(&file.content)?)];
    let include = |name: &str| format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {name:?}))");
    let mut options = Vec::new();
    for (extension, content) in compressed {
        // Pictures are compressed already.
        if content.len() + content.len() / 10 > file.content.len() {
            options.push("None".to_owned());
            continue;
        }
        let name = format!("/site/{}.{extension}", file.path);
        fs::write(output.join(&name[1..]), content)?;
        options.push(format!("Some({})", include(&name)));
    }
    Ok(format!(
        "File {{ path: {:?}, content: {}, gzip: {}, brotli: {}, is_immutable: {} }},",
        file.path,
        include(&format!("/site/{}", file.path)),
        options[0],
        options[1],
        file.is_immutable
    ))
}

fn gzip(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

fn brotli(mut content: &[u8]) -> io::Result<Vec<u8>> {
    let parameters =
        BrotliEncoderParams { quality: BROTLI_LEVEL, size_hint: content.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut content, &mut compressed, &parameters)?;
    Ok(compressed)
}
