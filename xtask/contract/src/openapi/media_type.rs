//! What a body or a header carries: request bodies, responses, headers and media types.

use super::Object;

macro_rules! resolved_views {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            declared: Object<'a>,
            object: Object<'a>,
        }

        impl<'a> $name<'a> {
            /// The view of an object or a reference to one. `None` where the reference leads nowhere.
            pub fn new(declared: Object<'a>) -> Option<Self> {
                Some(Self { declared, object: declared.resolved()? })
            }

            /// The object where it is used, which may be a reference.
            pub fn declared(&self) -> Object<'a> {
                self.declared
            }
        }

        deref_to_object!($name, object);
    )*};
}

resolved_views! {
    /// A Request Body Object, its reference resolved.
    RequestBody;
    /// A Response Object, its reference resolved.
    Response;
    /// A Header Object, its reference resolved. Its style is always `simple` (section 4.7.21).
    Header;
}

impl<'a> Response<'a> {
    /// The headers by name. A header called `Content-Type` is ignored (section 4.7.17).
    pub fn headers(&self) -> impl Iterator<Item = (&'a str, Header<'a>)> {
        let headers = self.object.children("headers");
        let headers = headers.filter(|header| !header.name().eq_ignore_ascii_case("content-type"));
        headers.filter_map(|header| Some((header.name(), Header::new(header)?)))
    }
}

impl Header<'_> {
    /// Whether arrays and objects are written as `name=value` pairs.
    pub fn explode(&self) -> bool {
        self.object.flag("explode")
    }
}

/// A Media Type Object.
#[derive(Clone, Copy, Debug)]
pub struct MediaType<'a>(pub(super) Object<'a>);

impl<'a> MediaType<'a> {
    /// The media type or range, as it is written.
    pub fn media_type(&self) -> &'a str {
        self.0.name()
    }
}

deref_to_object!(MediaType, 0);
