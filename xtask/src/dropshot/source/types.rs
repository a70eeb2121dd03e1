//! Structs and enums of requests and responses, with the names that serde gives to them and their members.

use heck::{ToKebabCase, ToLowerCamelCase, ToPascalCase, ToShoutyKebabCase, ToShoutySnakeCase, ToSnakeCase};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, ItemEnum, ItemStruct, Lit, Meta, Token, Type, Visibility};

use super::endpoint::parts;
use super::index::Spot;

/// A struct or an enum.
pub(super) struct WireType {
    /// The name in Rust.
    pub(super) name: String,
    /// The name in the document, if it has one there.
    pub(super) wire: String,
    /// Whether it is public, as schemas are.
    pub(super) public: bool,
    pub(super) spot: Spot,
    /// The position of `deny_unknown_fields`.
    pub(super) closed: Option<Spot>,
    /// Whether `JsonSchema` is implemented by hand.
    pub(super) hand_written: bool,
    /// The traits that are derived or implemented.
    pub(super) traits: Vec<String>,
    /// The fields or variants.
    pub(super) members: Vec<Member>,
}

/// A field or a variant.
pub(super) struct Member {
    /// The name in Rust.
    pub(super) name: String,
    /// The name in requests and responses.
    pub(super) wire: String,
    /// The position, from the name to the type.
    pub(super) spot: Spot,
    /// The name of the type without `Option`, `Vec` and `Box`. Empty for a variant.
    pub(super) of: String,
    /// The position of the type.
    pub(super) type_spot: Spot,
    /// The function that returns the schema, if there is one.
    pub(super) schema_with: Option<String>,
    /// The position of `default`.
    pub(super) default: Option<Spot>,
}

impl WireType {
    pub(super) fn of_struct(file: usize, item: &ItemStruct) -> Self {
        let members = item.fields.iter().filter_map(|field| {
            Some(Member::new(file, &field.attrs, field.ident.as_ref()?, Some(&field.ty), &item.attrs))
        });
        Self { members: members.collect(), ..Self::new(file, &item.attrs, &item.ident, &item.vis) }
    }

    pub(super) fn of_enum(file: usize, item: &ItemEnum) -> Self {
        let variants = item.variants.iter();
        let members =
            variants.map(|variant| Member::new(file, &variant.attrs, &variant.ident, None, &item.attrs));
        Self { members: members.collect(), ..Self::new(file, &item.attrs, &item.ident, &item.vis) }
    }

    fn new(file: usize, attributes: &[Attribute], name: &Ident, visibility: &Visibility) -> Self {
        let settings = Settings::of(attributes);
        Self {
            name: name.to_string(),
            wire: settings.text("rename").unwrap_or_else(|| name.to_string()),
            public: matches!(visibility, Visibility::Public(_)),
            spot: Spot::of(file, name),
            closed: settings.spot(file, "deny_unknown_fields"),
            hand_written: false,
            traits: derives(attributes),
            members: Vec::new(),
        }
    }

    /// Returns the member with this name in requests and responses. The case of header names is ignored.
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

impl Member {
    /// Reads a field with its type, or a variant. `outer` are the attributes of the enclosing type.
    fn new(file: usize, own: &[Attribute], name: &Ident, of: Option<&Type>, outer: &[Attribute]) -> Self {
        let settings = Settings::of(own);
        let mut spot = Spot::of(file, name);
        let type_spot = of.map_or(spot, |of| Spot::of(file, of));
        spot.span.end = type_spot.span.end;
        let name = name.unraw().to_string();
        Self {
            wire: settings.text("rename").unwrap_or_else(|| Settings::of(outer).renamed(&name)),
            name,
            spot,
            of: of.and_then(last_ident).unwrap_or_default(),
            type_spot,
            schema_with: settings.text("schema_with"),
            default: settings.spot(file, "default"),
        }
    }
}

/// The attributes of serde and schemars.
struct Settings(Vec<Meta>);

impl Settings {
    fn of(attributes: &[Attribute]) -> Self {
        let of_wire = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde") || attribute.path().is_ident("schemars"));
        let parsed = of_wire.filter_map(|attribute| {
            attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
        });
        Self(parsed.flatten().collect())
    }

    fn spot(&self, file: usize, key: &str) -> Option<Spot> {
        self.0.iter().find(|meta| meta.path().is_ident(key)).map(|meta| Spot::of(file, meta))
    }

    fn text(&self, key: &str) -> Option<String> {
        let mut pairs = self.0.iter().filter(|meta| meta.path().is_ident(key));
        pairs.find_map(|meta| text_of(&meta.require_name_value().ok()?.value))
    }

    /// Applies serde's `rename_all`.
    fn renamed(&self, name: &str) -> String {
        match self.text("rename_all").as_deref() {
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

/// Returns the text of a string literal.
pub(super) fn text_of(expression: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = expression else { return None };
    Some(text.value())
}

/// Returns the name of a type without wrappers: `Pet` of `Option<Vec<Pet>>`.
pub(super) fn last_ident(of: &Type) -> Option<String> {
    let (name, arguments) = parts(of)?;
    match (name.as_str(), arguments.first()) {
        ("Option" | "Vec" | "Box", Some(inner)) => last_ident(inner),
        _ => Some(name),
    }
}
