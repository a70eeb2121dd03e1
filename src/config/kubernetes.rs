//! The environment variables that Kubernetes injects for a Service (Kubernetes documentation, "Service",
//! "Environment variables").
//!
//! A Service named `animal-store` gives every container of its namespace variables such as
//! `ANIMAL_STORE_SERVICE_HOST`, which begin like the settings.

use super::source::PREFIX;

/// Whether Kubernetes injects the variable with this name, which is without the prefix of the settings.
pub(super) fn injects(name: &str) -> bool {
    let name = name.to_uppercase();
    is_injected(&name, || std::env::var(format!("{PREFIX}{name}")).unwrap_or_default())
}

/// Whether Kubernetes injects a variable with this name and value. The Service may have a longer name, such as
/// `animal-store-replicas`.
fn is_injected(name: &str, value: impl FnOnce() -> String) -> bool {
    let words: Vec<&str> = name.split('_').collect();
    let is_of_service = |pair: &[&str]| match pair {
        ["SERVICE", kind] => ["HOST", "PORT"].contains(kind),
        ["PORT", number] => number.parse::<u16>().is_ok(),
        _ => false,
    };
    // An operator who writes `ANIMAL_STORE_PORT=8080` must learn that there is no such setting.
    words.windows(2).any(is_of_service) || words.last() == Some(&"PORT") && value().contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_service_are_recognised() {
        for (name, value) in [
            ("PORT", "tcp://10.0.0.11:8080"),
            ("PORT_8080_TCP", "tcp://10.0.0.11:8080"),
            ("PORT_8080_TCP_ADDR", "10.0.0.11"),
            ("PORT_8080_TCP_PORT", "8080"),
            ("PORT_8080_TCP_PROTO", "tcp"),
            ("PORT_53_UDP", "udp://10.0.0.11:53"),
            ("SERVICE_HOST", "10.0.0.11"),
            ("SERVICE_PORT", "8080"),
            ("SERVICE_PORT_HTTP", "8080"),
            ("OPS_PORT", "tcp://10.0.0.12:9090"),
            ("OPS_SERVICE_HOST", "10.0.0.12"),
            ("OPS_SERVICE_PORT_METRICS", "9090"),
            ("OPS_PORT_9090_TCP_ADDR", "10.0.0.12"),
        ] {
            assert!(is_injected(name, || value.to_owned()), "{name}={value}");
        }
    }

    #[test]
    fn settings_and_mistakes_are_not() {
        for (name, value) in [
            ("PORT", "8080"),
            ("OPS_PORT", "9090"),
            ("BIND", "tcp://10.0.0.11:8080"),
            ("PORT_HTTP_TCP", "8080"),
            ("SUPPORT", "tcp://10.0.0.11:8080"),
            ("MYSERVICE_HOST", "10.0.0.11"),
            ("LOG__LEVEL", "debug"),
        ] {
            assert!(!is_injected(name, || value.to_owned()), "{name}={value}");
        }
    }
}
