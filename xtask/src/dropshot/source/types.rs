//! Structs and enums that go over the wire, with the names that serde gives to them and to their members.

use heck::{ToKebabCase, ToLowerCamelCase, ToPascalCase, ToShoutyKebabCase, ToShoutySnakeCase, ToSnakeCase};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, Fields, GenericArgument, ItemEnum, ItemStruct, Lit, Meta, PathArguments, Token, Type,
    Visibility,
};

use super::index::Spot;

/// A struct or an enum.
pub(super) struct WireType {
    /// Its name in Rust.
    pub(super) name: String,
    /// Its name in the document, if it has one there.
    pub(super) wire: String,
    /// Whether it is seen outside of its module, as schemas are.
    pub(super) public: bool,
    pub(super) spot: Spot,
    /// Where `deny_unknown_fields` stands.
    pub(super) closed: Option<Spot>,
    /// Whether its `JsonSchema` is written by hand.
    pub(super) hand_written: bool,
    /// The traits that it derives or that are implemented for it.
    pub(super) traits: Vec<String>,
    /// Its fields or variants.
    pub(super) members: Vec<Member>,
}

/// A field or a variant.
pub(super) struct Member {
    /// Its name in Rust.
    pub(super) name: String,
    /// Its name on the wire.
    pub(super) wire: String,
    /// From its name to its type.
    pub(super) spot: Spot,
    /// The name of its type, without `Option`, `Vec` and the like. Empty for a variant.
    pub(super) of: String,
    /// Where its type stands.
    pub(super) type_spot: Spot,
    /// The function that makes its schema, if one does.
    pub(super) schema_with: Option<String>,
    /// Where its `default` is set.
    pub(super) default: Option<Spot>,
}

impl WireType {
    pub(super) fn of_struct(file: usize, item: &ItemStruct) -> Self {
        let settings = Settings::of(file, &item.attrs);
        let named = match &item.fields {
            Fields::Named(fields) => fields.named.iter().collect(),
            _ => Vec::new(),
        };
        let members = named.into_iter().filter_map(|field| {
            let name = field.ident.as_ref()?;
            let own = Settings::of(file, &field.attrs);
            let (from, to) = (Spot::of(file, name), Spot::of(file, &field.ty));
            let bare = name.to_string();
            let bare = bare.strip_prefix("r#").unwrap_or(&bare);
            Some(Member {
                name: bare.to_owned(),
                wire: own.rename.unwrap_or_else(|| settings.renamed(bare)),
                spot: until(from, to),
                of: last_ident(&field.ty).unwrap_or_default(),
                type_spot: to,
                schema_with: own.schema_with,
                default: own.default,
            })
        });
        let members = members.collect();
        Self::new(&settings, &item.attrs, &item.ident, &item.vis, Spot::of(file, &item.ident), members)
    }

    pub(super) fn of_enum(file: usize, item: &ItemEnum) -> Self {
        let settings = Settings::of(file, &item.attrs);
        let members = item.variants.iter().map(|variant| {
            let own = Settings::of(file, &variant.attrs);
            let spot = Spot::of(file, &variant.ident);
            Member {
                name: variant.ident.to_string(),
                wire: own.rename.unwrap_or_else(|| settings.renamed(&variant.ident.to_string())),
                spot,
                of: String::new(),
                type_spot: spot,
                schema_with: None,
                default: None,
            }
        });
        let members = members.collect();
        Self::new(&settings, &item.attrs, &item.ident, &item.vis, Spot::of(file, &item.ident), members)
    }

    fn new(
        settings: &Settings,
        attributes: &[Attribute],
        name: &syn::Ident,
        visibility: &Visibility,
        spot: Spot,
        members: Vec<Member>,
    ) -> Self {
        let name = name.to_string();
        Self {
            wire: settings.rename.clone().unwrap_or_else(|| name.clone()),
            name,
            public: matches!(visibility, Visibility::Public(_)),
            spot,
            closed: settings.closed,
            hand_written: false,
            traits: derives(attributes),
            members,
        }
    }

    /// The member with this name on the wire. The case of a header's name does not matter.
    pub(super) fn member(&self, wire: &str) -> Option<&Member> {
        let same = self.members.iter().find(|member| member.wire == wire);
        same.or_else(|| self.members.iter().find(|member| member.wire.eq_ignore_ascii_case(wire)))
    }
}

fn derives(attributes: &[Attribute]) -> Vec<String> {
    let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    let paths = derives.filter_map(|derive| {
        derive.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated).ok()
    });
    paths.flatten().filter_map(|path| Some(path.segments.last()?.ident.to_string())).collect()
}

fn until(from: Spot, to: Spot) -> Spot {
    let mut spot = from;
    spot.span.end = to.span.end;
    spot
}

/// What the attributes of serde and schemars say.
#[derive(Default)]
struct Settings {
    rename: Option<String>,
    rename_all: Option<String>,
    closed: Option<Spot>,
    schema_with: Option<String>,
    default: Option<Spot>,
}

impl Settings {
    fn of(file: usize, attributes: &[Attribute]) -> Self {
        let mut settings = Self::default();
        let of_wire = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("schemars"));
        for attribute in of_wire {
            let parsed = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            for meta in parsed.into_iter().flatten() {
                settings.read(file, &meta);
            }
        }
        settings
    }

    fn read(&mut self, file: usize, meta: &Meta) {
        let spot = Spot::of(file, meta);
        let path = meta.path();
        if path.is_ident("deny_unknown_fields") {
            self.closed = Some(spot);
        } else if path.is_ident("default") {
            self.default = Some(spot);
        }
        let Meta::NameValue(pair) = meta else { return };
        let Some(text) = text_of(&pair.value) else { return };
        if path.is_ident("rename") {
            self.rename = Some(text);
        } else if path.is_ident("rename_all") {
            self.rename_all = Some(text);
        } else if path.is_ident("schema_with") {
            self.schema_with = Some(text);
        }
    }

    /// serde's conventions for names.
    fn renamed(&self, name: &str) -> String {
        match self.rename_all.as_deref() {
            Some("lowercase") => name.to_lowercase(),
            Some("UPPERCASE") => name.to_uppercase(),
            Some("PascalCase") => name.to_pascal_case(),
            Some("camelCase") => name.to_lower_camel_case(),
            Some("snake_case") => name.to_snake_case(),
            Some("SCREAMING_SNAKE_CASE") => name.to_shouty_snake_case(),
            Some("kebab-case") => name.to_kebab_case(),
            Some("SCREAMING-KEBAB-CASE") => name.to_shouty_kebab_case(),
            _ => name.to_owned(),
        }
    }
}

/// A literal's text.
pub(super) fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The name of a type, without what wraps it: `Pet` of `Option<Vec<Pet>>`.
pub(super) fn last_ident(of: &Type) -> Option<String> {
    let Type::Path(path) = of else { return None };
    let segment = path.path.segments.last()?;
    let wraps = ["Option", "Vec", "Box"].iter().any(|wrapper| segment.ident == wrapper);
    if wraps
        && let PathArguments::AngleBracketed(arguments) = &segment.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.first()
    {
        return last_ident(inner);
    }
    Some(segment.ident.to_string())
}
