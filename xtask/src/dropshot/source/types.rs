//! Structs and enums that go over the wire, with the names that serde gives to them and to their members.

use heck::{ToKebabCase, ToLowerCamelCase, ToPascalCase, ToShoutyKebabCase, ToShoutySnakeCase, ToSnakeCase};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, ItemEnum, ItemStruct, Lit, Meta, Token, Type, Visibility};

use super::endpoint::parts;
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

impl Member {
    /// A field with its type, or a variant. `outer` are the attributes of the type that it belongs to.
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

/// What the attributes of serde and schemars say.
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

    /// serde's conventions for names.
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

/// The text of a string literal.
pub(super) fn text_of(expression: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = expression else { return None };
    Some(text.value())
}

/// The name of a type, without what wraps it: `Pet` of `Option<Vec<Pet>>`.
pub(super) fn last_ident(of: &Type) -> Option<String> {
    let (name, arguments) = parts(of)?;
    match (name.as_str(), arguments.first()) {
        ("Option" | "Vec" | "Box", Some(inner)) => last_ident(inner),
        _ => Some(name),
    }
}
