//! `animal-store check-config`: finds what `serve` would reject, and opens and creates nothing.

use std::net::TcpListener;

use crate::program::WorkDir;

/// Writes a certificate and its private key.
fn certificate(directory: &WorkDir) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    directory.write("certificate.pem", made.cert.pem());
    directory.write("key.pem", made.signing_key.serialize_pem());
    directory.set_mode("key.pem", 0o600);
}

#[tokio::test]
async fn a_valid_configuration_is_one_line_and_nothing_is_opened() {
    let directory = WorkDir::new();
    certificate(&directory);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let file = format!(
        "bind = '{}'\nops_bind = 9090\ntrusted_proxies = ['10.0.0.0/8']\n\
         [tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n",
        taken.local_addr().unwrap()
    );
    directory.write("store.toml", file);
    let before = directory.files();
    // No server runs at this address.
    for database in ["sqlite:new.db", "postgres://u:sesame@127.0.0.1:1/d"] {
        let arguments = ["check-config", "--config", "store.toml", "--database", database];
        assert_eq!(directory.run(&arguments).await.success(), "the configuration is valid\n");
    }
    assert_eq!(directory.files(), before);
}

#[tokio::test]
async fn what_serve_rejects_is_reported_in_the_same_words() {
    let directory = WorkDir::new();
    certificate(&directory);
    directory.write("type.toml", "write_queue = 'many'");
    directory.write("tls.toml", "[tls]\ncertificate = 'missing.pem'\nprivate_key = 'key.pem'\n");
    directory.write("swapped.toml", "[tls]\ncertificate = 'key.pem'\nprivate_key = 'certificate.pem'\n");
    let before = directory.files();
    for arguments in [
        &["--config", "type.toml"][..],
        &["--config", "tls.toml"],
        &["--config", "swapped.toml"],
        &["--config", "missing.toml"],
        &["--database", "animals.db"],
        &["--database", "sqlite:."],
        &["--database", "sqlite:no/such/a.db"],
        &["--database", "postgres://u:sesame@h:x/d"],
        &["--database", "postgres://u:sesame@h/d?sslmode=verify-full&sslrootcert=no.pem"],
        &["--database-file", "missing"],
    ] {
        let line = directory.run(&[&["check-config"], arguments].concat()).await.failure();
        let served = directory.run(&[&["serve", "--bind", "127.0.0.1:0"], arguments].concat()).await;
        assert_eq!(line, served.failure(), "{arguments:?}");
        assert!(!line.contains("sesame"), "{line}");
    }
    assert_eq!(directory.files(), before);
}
