//! Path items, operations and servers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Kind, Model, Object, Parameter};
use crate::text::Node;

/// The fixed fields of the Path Item Object that hold an operation (section 4.7.9).
pub const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A Path Item Object, under its path or the expression of a callback, its reference resolved. Where it is used, it
/// may have other fields beside the reference.
#[derive(Clone, Copy, Debug)]
pub struct PathItem<'a> {
    declared: Object<'a>,
    object: Object<'a>,
}

/// An Operation Object.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    item: PathItem<'a>,
    object: Object<'a>,
}

impl<'a> Model<'a> {
    /// The path items under `paths`, in the order of the file.
    pub fn path_items(&'a self) -> impl Iterator<Item = PathItem<'a>> {
        let paths = self.root().child("paths");
        let items = paths.into_iter().flat_map(|paths| paths.parts());
        items.filter(|object| object.kind() == Kind::PathItem).filter_map(PathItem::new)
    }

    /// The operations under `paths`, in the order of the file.
    pub fn operations(&'a self) -> impl Iterator<Item = Operation<'a>> {
        self.path_items().flat_map(|item| item.operations())
    }
}

impl<'a> PathItem<'a> {
    /// Returns the view of an object or a reference to one. `None` if the reference has no target.
    pub fn new(declared: Object<'a>) -> Option<Self> {
        Some(Self { declared, object: declared.resolved()? })
    }

    /// The path template, or the expression of a callback.
    pub fn path(&self) -> &'a str {
        self.declared.name()
    }

    /// The operations, in the order of the file: those beside a reference, then those of its target.
    pub fn operations(self) -> impl Iterator<Item = Operation<'a>> {
        let is_other = move |part: &Object<'_>| self.declared.child(part.name()).is_none();
        let target = (self.declared != self.object).then_some(self.object).into_iter();
        let parts = self.declared.parts().chain(target.flat_map(|target| target.parts()).filter(is_other));
        parts
            .filter(|part| part.kind() == Kind::Operation)
            .map(move |object| Operation { item: self, object })
    }

    /// The operation for a method, in lower case.
    pub fn operation(self, method: &str) -> Option<Operation<'a>> {
        let object = self.declared.child(method).or_else(|| self.object.child(method));
        object.map(|object| Operation { item: self, object })
    }
}

impl<'a> Operation<'a> {
    /// The path item that the operation is in.
    pub fn item(&self) -> PathItem<'a> {
        self.item
    }

    /// The path template.
    pub fn path(&self) -> &'a str {
        self.item.path()
    }

    /// The method, in lower case.
    pub fn method(&self) -> &'a str {
        self.object.name()
    }

    /// The `operationId`.
    pub fn id(&self) -> Option<&'a str> {
        self.object.text("operationId")
    }

    /// The `operationId`, else the method and the path.
    pub fn name(&self) -> String {
        self.id().map_or_else(|| format!("{} {}", self.method().to_uppercase(), self.path()), str::to_owned)
    }

    /// The parameters that apply: those of the operation, then those of the path item that the operation
    /// does not override (section 4.7.10, `parameters`).
    pub fn parameters(&self) -> Vec<Parameter<'a>> {
        let mut known = HashSet::new();
        let owners = [self.object, self.item.declared, self.item.object].into_iter();
        let parameters = owners.flat_map(|owner| owner.children("parameters")).filter_map(Parameter::new);
        parameters.filter(|parameter| known.insert(parameter.key())).collect()
    }

    /// The request body, its reference resolved.
    pub fn request_body(&self) -> Option<Object<'a>> {
        self.object.child("requestBody")?.resolved()
    }

    /// The security that applies: its own, even if it is empty, else that of the document (section 4.7.10, `security`).
    pub fn security(&self) -> Security<'a> {
        let owners = [self.object, self.object.model().root()];
        Security(owners.into_iter().find(|owner| owner.has("security")))
    }

    /// Returns the object whose `servers` apply: the operation, else the path item, else the document (section 4.7.10,
    /// `servers`), also if there are none.
    pub fn servers_owner(&self) -> Object<'a> {
        let root = self.object.model().root();
        let owners = [self.object, self.item.declared, self.item.object];
        owners.into_iter().find(|owner| owner.child("servers").is_some()).unwrap_or(root)
    }

    /// The path items of its callbacks, each with the name of the callback, references resolved.
    pub fn callbacks(&self) -> impl Iterator<Item = (&'a str, PathItem<'a>)> {
        let callbacks = self.object.children("callbacks");
        callbacks.filter_map(|callback| Some((callback.name(), callback.resolved()?))).flat_map(
            |(name, callback)| {
                callback.parts().filter_map(move |object| Some((name, PathItem::new(object)?)))
            },
        )
    }
}

/// The security of an operation: the operation or the document, whichever has the keyword `security`.
#[derive(Clone, Copy, Debug)]
pub struct Security<'a>(Option<Object<'a>>);

/// One alternative: the names of the schemes that are required together, each with its scopes.
pub type Requirement<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

impl<'a> Security<'a> {
    /// The object that has the keyword `security`.
    pub fn owner(&self) -> Option<Object<'a>> {
        self.0
    }

    /// The Security Requirement Objects, in the order of the file.
    pub fn alternatives(&self) -> impl Iterator<Item = (Object<'a>, Requirement<'a>)> {
        let scopes = |value: &'a Node| value.items().iter().filter_map(Node::as_str).collect();
        self.0.into_iter().flat_map(|owner| owner.children("security")).map(move |object| {
            let entries = object.node().entries().iter();
            (object, entries.map(|entry| (entry.key.as_str(), scopes(&entry.value))).collect())
        })
    }

    /// Returns the alternatives as a set. An empty list and an empty requirement have the same meaning.
    pub fn requirements(&self) -> BTreeSet<Requirement<'a>> {
        let requirements: BTreeSet<_> = self.alternatives().map(|(_, requirement)| requirement).collect();
        if requirements.is_empty() { [Requirement::new()].into() } else { requirements }
    }
}

/// A Server Object.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a>(Object<'a>);

/// Splits a template such as `/pets/{petId}/toys` into its shape, `/pets/{}/toys`, and the names in braces.
pub fn template(text: &str) -> (String, Vec<&str>) {
    let (mut shape, mut names, mut rest) = (String::with_capacity(text.len()), Vec::new(), text);
    while let Some((before, Some((name, after)))) =
        rest.split_once('{').map(|(before, after)| (before, after.split_once('}')))
    {
        shape.push_str(before);
        shape.push_str("{}");
        names.push(name);
        rest = after;
    }
    (shape + rest, names)
}

/// Returns the keys of a Responses Object that cover a status, the nearest first: `404`, `4XX`, `default`
/// (section 4.7.16).
pub fn covering_statuses(key: &str) -> Vec<String> {
    let range = key.get(..1).filter(|_| key.len() == 3).map(|digit| format!("{digit}XX"));
    let mut keys: Vec<_> =
        [Some(key.to_owned()), range, Some("default".to_owned())].into_iter().flatten().collect();
    keys.dedup();
    keys
}

impl<'a> Server<'a> {
    /// The view of a Server Object.
    pub fn new(object: Object<'a>) -> Self {
        Self(object)
    }

    /// The URL template.
    pub fn url(&self) -> &'a str {
        self.0.text("url").unwrap_or_default()
    }

    /// The URL with each variable replaced by its default.
    pub fn url_with_defaults(&self) -> String {
        let mut url = self.url().to_owned();
        for variable in self.variables() {
            let default = variable.text("default").unwrap_or_default();
            url = url.replace(&format!("{{{}}}", variable.name()), default);
        }
        url
    }

    /// Returns the URLs of the template: one for each value in the `enum` of a variable, or with all values in braces if
    /// they are too many. A variable of any value is replaced by `any`, but at the beginning by its default, since the URL
    /// could be any; without `any` by its default everywhere.
    pub fn urls(&self, any: Option<&str>) -> Vec<String> {
        const MAX_URLS: usize = 100;
        let (shape, names) = template(self.url());
        let mut pieces = shape.split("{}");
        let variables: HashMap<&str, Object<'a>> =
            self.variables().map(|variable| (variable.name(), variable)).collect();
        let mut urls = vec![pieces.next().unwrap_or_default().to_owned()];
        for (name, piece) in names.into_iter().zip(pieces) {
            let variable = variables.get(name);
            let listed =
                variable.and_then(|variable| variable.get("enum")).map(Node::items).unwrap_or_default();
            let mut values: Vec<_> = listed.iter().filter_map(Node::as_str).collect();
            values.sort_unstable();
            let together = format!("{{{}}}", values.join(","));
            if values.is_empty() {
                let default = variable.and_then(|variable| variable.text("default"));
                values.push(any.filter(|_| !urls[0].is_empty()).or(default).unwrap_or("{}"));
            } else if values.len() * urls.len() > MAX_URLS {
                values = vec![&together];
            }
            if let [value] = values.as_slice() {
                urls.iter_mut().for_each(|url| url.extend([value, piece]));
            } else {
                let with = |url| values.iter().map(move |value| format!("{url}{value}{piece}"));
                urls = urls.iter().flat_map(with).collect();
            }
        }
        urls
    }

    /// Returns the Server Variable Objects. The name of each object is the name of its variable.
    pub fn variables(&self) -> impl Iterator<Item = Object<'a>> {
        self.0.children("variables")
    }
}

deref_to_object!(PathItem, object);
deref_to_object!(Operation, object);
deref_to_object!(Server, 0);
