//! The files that the service publishes: the document, its releases, and the pages, compressed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{File, ORIGIN};
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

/// Higher levels take 10 to 20 times as long, and make the largest file smaller by a tenth.
const BROTLI_LEVEL: i32 = 9;

/// Writes a file and its compressed contents to the output directory. Returns the expression of the type `File` of
/// `src/document.rs`.
///
/// # Errors
/// A file cannot be written.
pub(super) fn write(output: &Path, file: &File) -> io::Result<String> {
    let path = output.join("site").join(&file.path);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    let include = |extension: &str, content: &[u8]| {
        let path = PathBuf::from(format!("{}{extension}", path.display()));
        fs::write(&path, content)?;
        Ok::<_, io::Error>(format!("include_bytes!({path:?})"))
    };
    // Pictures are compressed already.
    let option = |extension: &str, content: Vec<u8>| {
        let is_smaller = content.len() + content.len() / 10 < file.content.len();
        if is_smaller {
            Ok(format!("Some({})", include(extension, &content)?))
        } else {
            io::Result::Ok("None".to_owned())
        }
    };
    let parts: Vec<&str> = std::str::from_utf8(&file.content).unwrap_or_default().split(ORIGIN).collect();
    let mut deflated = String::new();
    let (mut gzip, mut brotli) = ("None".to_owned(), "None".to_owned());
    if parts.len() > 1 {
        for (number, part) in parts.iter().enumerate() {
            deflated += &format!(
                "{} as &[u8], ",
                include(&format!(".{number}.deflate"), &deflate(part.as_bytes())?)?
            );
        }
    } else {
        gzip = option(".gz", gzipped(&file.content)?)?;
        brotli = option(".br", compressed(&file.content)?)?;
    }
    Ok(format!(
        "File {{ path: {:?}, content: {}, gzip: {gzip}, brotli: {brotli}, deflated: &[{deflated}], is_immutable: {} }},",
        file.path,
        include("", &file.content)?,
        file.is_immutable
    ))
}

fn gzipped(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

/// Compresses a part of a stream, up to the end of a byte.
fn deflate(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.flush()?;
    Ok(encoder.get_ref().clone())
}

fn compressed(mut content: &[u8]) -> io::Result<Vec<u8>> {
    let parameters =
        BrotliEncoderParams { quality: BROTLI_LEVEL, size_hint: content.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut content, &mut compressed, &parameters)?;
    Ok(compressed)
}
