//! The end of a certificate's validity.

use jiff::Timestamp;
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// Returns the `notAfter` of a certificate in DER (RFC 5280, section 4.1.2.5); `None` if it is not a
/// certificate.
pub fn not_after(der: &[u8]) -> Option<Timestamp> {
    let certificate = Certificate::from_der(der).ok()?;
    Timestamp::try_from(certificate.tbs_certificate.validity.not_after.to_system_time()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_read_and_other_bytes_are_none() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        for (year, expected) in [(2030, "2030-03-04T00:00:00Z"), (2075, "2075-03-04T00:00:00Z")] {
            parameters.not_after = rcgen::date_time_ymd(year, 3, 4);
            let der = parameters.self_signed(&key).unwrap().der().to_vec();
            assert_eq!(not_after(&der).unwrap(), expected.parse().unwrap());
            for end in 0..der.len() {
                assert_eq!(not_after(&der[..end]), None);
            }
        }
    }
}
