//! Generates types for schemas, such that dropshot's document has the same schemas again.

use std::collections::{BTreeSet, HashSet};

use document::Node;
use document::openapi::{Additional, Kind, Object, Schema};
use heck::ToSnakeCase;
use serde_json::Value;

use super::file::{File, doc, pascal, renamed, snake};
use super::{Generated, Generator, SCHEMAS, is_annotation, only, unsupported};

/// What a newtype has beside its Rust type.
#[derive(Default)]
struct Limits {
    /// The statements that add it to a schema of schemars.
    described: String,
    /// The conditions that a value must satisfy.
    conditions: Vec<String>,
    /// The same for a message.
    shown: Vec<String>,
    /// What the generated code does not check.
    unchecked: Vec<String>,
}

impl Generator<'_> {
    /// Generates the file of a schema under `components/schemas`.
    pub(super) fn component(&mut self, schema: Schema<'_>, wire: &str) -> Generated<()> {
        let module = snake(wire)
            .ok_or_else(|| unsupported(*schema, "", "its name cannot be the name of a Rust module"))?;
        self.file = File { schema: Some(wire.to_owned()), ..File::default() };
        self.is_parameter = false;
        let name = self.claim(wire, *schema)?;
        match schema.type_name() {
            Some("object") => self.structure(schema, &name, wire)?,
            Some("string") if schema.has("enum") => self.string_enum(schema, &name, wire)?,
            _ => {
                let rust = self.unlimited(schema, wire)?;
                self.newtype(schema, &name, &rust)?;
            }
        }
        let text = self.file.text(&format!("//! `{name}`.\n"));
        let file = std::mem::take(&mut self.file);
        let scaffold = &mut self.scaffold;
        scaffold.steps.extend(file.notes.iter().map(|note| format!("src/schemas/{module}.rs: {note}.")));
        let line = format!("pub use {module}::{{{}}};", file.types.join(", "));
        scaffold.lines.push(super::Line { path: SCHEMAS, line, before: "\npub use " });
        scaffold.module(SCHEMAS, &module, text);
        Ok(())
    }

    /// Returns the type of a schema. `name` is that of its newtype, if it needs one.
    pub(super) fn rust(&mut self, schema: Schema<'_>, name: &str) -> Generated<String> {
        let schema = only_member(schema);
        if schema.is_reference() {
            return self.reference(schema);
        }
        let reason = "this schema must be defined under `components/schemas` and referenced here";
        if schema.type_name() == Some("object") || schema.has("enum") {
            return Err(unsupported(*schema, "type", reason));
        }
        let rust = self.unlimited(schema, name)?;
        // schemars adds a format to numbers, and to no other type.
        let is_number = matches!(schema.type_name(), Some("integer" | "number"));
        if schema.has("format") == is_number && only(*schema, &["type", "format", "items"]).is_ok() {
            return Ok(rust);
        }
        let name = self.claim(name, *schema)?;
        self.newtype(schema, &name, &rust)?;
        Ok(name)
    }

    /// Returns the type of a scalar or a list, regardless of its limits.
    fn unlimited(&mut self, schema: Schema<'_>, name: &str) -> Generated<String> {
        let rust = match (schema.type_name(), schema.format()) {
            (Some("boolean"), _) => "bool",
            (Some("integer"), Some("int32")) => "i32",
            (Some("integer"), None | Some("int64")) => "i64",
            (Some("number"), None | Some("double")) => "f64",
            (Some("string"), _) => "String",
            (Some("array"), _) if !self.is_parameter => {
                let items =
                    schema.items().ok_or_else(|| unsupported(*schema, "", "the array has no `items`"))?;
                return Ok(format!("Vec<{}>", self.rust(items, &format!("{name} item"))?));
            }
            _ => {
                // A keyword such as `oneOf` says more.
                only(*schema, &["type", "format", "items"])?;
                let reason = "no Rust type is supported for this `type` and `format` here";
                return Err(unsupported(*schema, "type", reason));
            }
        };
        Ok(rust.to_owned())
    }

    fn reference(&mut self, schema: Schema<'_>) -> Generated<String> {
        let target = schema.model().target(schema.id);
        let Some((target, wire)) = target.and_then(|target| Some((target, component(target)?))) else {
            let reason = "the reference must lead to a schema directly under `components/schemas`";
            return Err(unsupported(*schema, "$ref", reason));
        };
        if self.is_parameter && target.text("type") != Some("string") {
            let reason = format!("a parameter is a string, but `{wire}` is not of `type: string`");
            return Err(unsupported(*schema, "$ref", reason));
        }
        // A missing type gets its name from the schema.
        let known = self.sources.schema(wire).map(str::to_owned).or_else(|| pascal(wire));
        let name = known.ok_or_else(|| unsupported(*schema, "$ref", "it has no name in Rust"))?;
        if self.file.schema.as_deref() != Some(wire) {
            self.file.import("crate::schemas", &name);
        }
        Ok(name)
    }

    /// Returns the format, the limits and the default of a schema for its newtype, and adds the function of the default.
    fn limits(&mut self, schema: Schema<'_>, name: &str, rust: &str) -> Generated<Limits> {
        let (section, measured) = match rust {
            "bool" => ("", ""),
            "String" => ("string", "value.chars().count()"),
            "i32" | "i64" | "f64" => ("number", "value"),
            _ => ("array", "value.len()"),
        };
        let mut limits = Limits::default();
        if !schema.has("format") {
            limits.described.push_str("schema.format = None;");
        }
        for entry in schema.node().entries() {
            let (keyword, value) = (entry.key.as_str(), entry.value.to_json());
            let text = value.as_str().unwrap_or_default();
            let wrong = || unsupported(*schema, keyword, format!("its value `{value}` is not supported"));
            match (section, keyword) {
                ("number", "minimum" | "maximum")
                | ("string", "minLength" | "maxLength")
                | ("array", "minItems" | "maxItems") => {
                    let bound = match section {
                        "number" => literal(rust, &value),
                        _ => value.as_u64().and_then(|it| u32::try_from(it).ok()).map(|it| it.to_string()),
                    };
                    let bound = bound.ok_or_else(wrong)?;
                    let range = match keyword.starts_with("min") {
                        true => format!("({bound}..)"),
                        false => format!("(..={bound})"),
                    };
                    limits.conditions.push(format!("{range}.contains(&{measured})"));
                    limits.shown.push(format!("{keyword} {bound}"));
                    let (field, suffix) =
                        (keyword.to_snake_case(), if section == "number" { "_f64" } else { "" });
                    let described = format!("schema.{section}().{field} = Some({bound}{suffix});");
                    limits.described.push_str(&described);
                }
                ("string", "pattern") => {
                    let described = format!("schema.string().pattern = Some({text:?}.to_owned());");
                    limits.described.push_str(&described);
                    limits.unchecked.push(format!("`pattern: {text}`"));
                }
                ("string" | "number", "format") => {
                    limits.described.push_str(&format!("schema.format = Some({text:?}.to_owned());"));
                    limits.unchecked.extend((section == "string").then(|| format!("`format: {text}`")));
                }
                (_, "default") if self.is_parameter => {
                    let default = literal(rust, &value).ok_or_else(wrong)?;
                    let function = default_of(name);
                    let item = format!("fn {function}() -> {name} {{\n    {name}({default})\n}}\n");
                    self.file.items.push(item);
                    // dropshot drops the default of a parameter, but keeps extensions.
                    limits.described.push_str(&format!(
                        "schema.extensions.insert(\"x-default\".to_owned(), {function}().0.into());"
                    ));
                }
                (_, "type" | "items") => {}
                (_, keyword) if is_annotation(keyword) => {}
                (_, keyword) => {
                    let reason = format!("`{keyword}` is not supported here");
                    return Err(unsupported(*schema, keyword, reason));
                }
            }
        }
        Ok(limits)
    }

    /// Adds a newtype of `rust` for a schema. Its name is that of the component, or one that the document does not have.
    fn newtype(&mut self, schema: Schema<'_>, name: &str, rust: &str) -> Generated<()> {
        let Limits { described, conditions, shown, unchecked } = self.limits(schema, name, rust)?;
        if self.is_read && !unchecked.is_empty() {
            self.file.notes.push(format!("let `{name}` check {}", unchecked.join(" and ")));
        }
        let (mut attribute, mut try_from) = (String::new(), String::new());
        if self.is_read && !conditions.is_empty() {
            let (condition, limits) = (conditions.join(" && "), shown.join(", "));
            attribute = format!("#[serde(try_from = {rust:?})]\n");
            try_from = format!(
                "
impl TryFrom<{rust}> for {name} {{
    type Error = &'static str;

    fn try_from(value: {rust}) -> Result<Self, Self::Error> {{
        if {condition} {{ Ok(Self(value)) }} else {{ Err(\"must have {limits}\") }}
    }}
}}
"
            );
        }
        let derives = self.derives("Clone, Debug, PartialEq");
        let visible = self.file.visibility();
        let is_component = component(*schema).is_some();
        let wire = if is_component { schema.name() } else { name };
        let comment = doc(schema.text("description"), &format!("`{wire}`."));
        self.file.import("schemars", "JsonSchema");
        self.file.import("schemars::r#gen", "SchemaGenerator");
        self.file.import("schemars::schema", "Schema");
        self.file.items.push(format!(
            "{comment}
#[derive({derives})]
{attribute}{visible} struct {name}({visible} {rust});
{try_from}
impl JsonSchema for {name} {{
    fn schema_name() -> String {{
        {wire:?}.to_owned()
    }}

    fn is_referenceable() -> bool {{
        {is_component}
    }}

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {{
        let mut schema = <{rust}>::json_schema(generator).into_object();
        {described}
        schema.into()
    }}
}}
"
        ));
        Ok(())
    }

    /// Adds the struct of an object.
    fn structure(&mut self, schema: Schema<'_>, name: &str, wire: &str) -> Generated<()> {
        only(*schema, &["type", "properties", "required", "additionalProperties"])?;
        let closed = match schema.additional_properties() {
            Additional::None => "#[serde(deny_unknown_fields)]\n",
            Additional::Any => "",
            Additional::Schema(_) => {
                let reason = "a schema of additional properties is not supported";
                return Err(unsupported(*schema, "additionalProperties", reason));
            }
        };
        let required: Vec<&str> = schema.required().collect();
        let properties = schema.properties().map(|(name, of)| (name, *of, required.contains(&name)));
        let (rename, derives) = (renamed(name, wire), self.derives("Clone, Debug, PartialEq"));
        let comment = doc(schema.text("description"), &format!("`{wire}`."));
        let head = format!("{comment}\n#[derive({derives}, JsonSchema)]\n{rename}{closed}");
        self.fields(name, &head, name, properties)
    }

    /// Adds a struct with properties, parameters or headers as its fields: their names, objects, and whether they are
    /// required. `head` has its comment and attributes. The names of the fields' types begin with `prefix`.
    pub(super) fn fields<'o>(
        &mut self,
        name: &str,
        head: &str,
        prefix: &str,
        fields: impl IntoIterator<Item = (&'o str, Object<'o>, bool)>,
    ) -> Generated<()> {
        let (mut text, mut known) = (String::new(), HashSet::new());
        let visible = self.file.visibility();
        for (wire, of, is_required) in fields {
            let field = snake(wire).filter(|field| known.insert(field.clone())).ok_or_else(|| {
                let reason =
                    format!("the name of its field, from `{wire}`, is used already or is not a name in Rust");
                unsupported(of, "", reason)
            })?;
            let schema = if of.kind() == Kind::Schema { Some(Schema::new(of)) } else { of.schema() };
            let schema =
                schema.ok_or_else(|| unsupported(of, "content", "only a `schema` is supported here"))?;
            self.is_parameter = of.kind() == Kind::Parameter;
            let mut rust = self.rust(schema, &format!("{prefix} {wire}"))?;
            if of.kind() == Kind::Header && rust != "String" {
                let reason = "a header must have the schema `type: string`, without limits";
                return Err(unsupported(of, "schema", reason));
            }
            let inner = only_member(schema);
            let owner = self.file.schema.as_deref();
            if inner.is_reference() && owner.is_some_and(|owner| used([*inner].into_iter()).contains(owner)) {
                rust = format!("Box<{rust}>");
            }
            let attributes = match (is_required, !inner.is_reference() && schema.has("default")) {
                (true, _) => String::new(),
                (false, true) => format!("#[serde(default = {:?})]\n", default_of(&rust)),
                (false, false) => {
                    let attributes = format!(
                        "#[schemars(with = {rust:?})]\n#[serde(default, skip_serializing_if = \"Option::is_none\")]\n"
                    );
                    rust = format!("Option<{rust}>");
                    attributes
                }
            };
            let comment = doc(of.text("description"), &format!("`{wire}`."));
            let rename = renamed(&field, wire);
            text.push_str(&format!("{comment}\n{rename}{attributes}{visible} {field}: {rust},\n"));
        }
        self.is_parameter = false;
        self.file.import("schemars", "JsonSchema");
        // Before the types of its fields.
        self.file.items.insert(0, format!("{head}{visible} struct {name} {{\n{text}}}\n"));
        Ok(())
    }

    fn string_enum(&mut self, schema: Schema<'_>, name: &str, wire: &str) -> Generated<()> {
        only(*schema, &["type", "enum"])?;
        let mut known = HashSet::new();
        let values = schema.get("enum").map(Node::items).unwrap_or_default();
        let variants = values.iter().map(|value| {
            let word = value.as_str()?;
            let variant = pascal(word).filter(|variant| known.insert(variant.clone()))?;
            Some(format!("{}{variant},\n", renamed(&variant, word)))
        });
        let variants: Option<String> = variants.collect();
        let variants = variants.filter(|variants| !variants.is_empty()).ok_or_else(|| {
            let reason = "each value must be a string, with a name in Rust that no other value has";
            unsupported(*schema, "enum", reason)
        })?;
        let comment = doc(schema.text("description"), &format!("`{wire}`."));
        let (derives, rename) = (self.derives("Clone, Copy, Debug, PartialEq, Eq"), renamed(name, wire));
        self.file.import("schemars", "JsonSchema");
        self.file.items.push(format!(
            "{comment}
#[derive({derives}, JsonSchema)]
{rename}#[allow(missing_docs, reason = \"documented variants would become a `oneOf`\")]
pub enum {name} {{
{variants}}}
"
        ));
        Ok(())
    }

    /// Returns the traits to derive: these and those of serde.
    pub(super) fn derives(&mut self, always: &str) -> String {
        let mut derives = always.to_owned();
        for (is_derived, name) in [(self.is_written, "Serialize"), (self.is_read, "Deserialize")] {
            if is_derived {
                self.file.import("serde", name);
                derives.push_str(&format!(", {name}"));
            }
        }
        derives
    }
}

/// Returns the names of the schemas in these objects and in what they refer to.
pub(super) fn used<'o>(objects: impl Iterator<Item = Object<'o>>) -> BTreeSet<&'o str> {
    let mut open: Vec<Object<'o>> = objects.collect();
    let (mut seen, mut names) = (HashSet::new(), BTreeSet::new());
    while let Some(object) = open.pop() {
        if seen.insert(object.id) {
            names.extend(component(object));
            open.extend(object.parts().chain(object.model().target(object.id)));
        }
    }
    names
}

/// Returns the name of a schema that is defined directly under `components/schemas`.
fn component(object: Object<'_>) -> Option<&str> {
    let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
    (is_component && object.kind() == Kind::Schema).then(|| object.name())
}

/// Returns the single reference in `allOf` if the schema has no other relevant keyword, else the schema itself.
pub(super) fn only_member(schema: Schema<'_>) -> Schema<'_> {
    let mut members = schema.members("allOf");
    match (members.next(), members.next(), only(*schema, &["allOf"])) {
        (Some(member), None, Ok(())) if member.is_reference() => member,
        _ => schema,
    }
}

/// Returns the name of the function that returns the default of a parameter.
fn default_of(name: &str) -> String {
    format!("default_{}", name.to_snake_case())
}

/// Returns a value as an expression of a Rust type. `None` if it is not of that type.
fn literal(rust: &str, value: &Value) -> Option<String> {
    match rust {
        "bool" => value.as_bool().map(|value| value.to_string()),
        "i32" => i32::try_from(value.as_i64()?).ok().map(|value| value.to_string()),
        "i64" => value.as_i64().map(|value| value.to_string()),
        "f64" => value.as_f64().map(|value| format!("{value:?}")),
        "String" => value.as_str().map(|value| format!("{value:?}.to_owned()")),
        _ => None,
    }
}
