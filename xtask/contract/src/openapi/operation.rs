//! Path items, operations and servers.

use std::collections::HashSet;

use super::{Kind, Model, Object, Parameter, RequestBody, Response, Security};

/// The fixed fields of the Path Item Object that hold an operation (section 4.7.9).
pub const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A Path Item Object, under its path or the expression of a callback.
#[derive(Clone, Copy, Debug)]
pub struct PathItem<'a> {
    path: &'a str,
    /// The object at the path, which may have other fields beside a reference.
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

    /// The operation with this operationId.
    pub fn operation(&'a self, id: &str) -> Option<Operation<'a>> {
        self.operations().find(|operation| operation.id() == Some(id))
    }
}

impl<'a> PathItem<'a> {
    /// The view of a path item or a reference to one. `None` where the reference leads nowhere.
    pub fn new(declared: Object<'a>) -> Option<Self> {
        Some(Self { path: declared.name(), declared, object: declared.resolved()? })
    }

    /// The path template, or the expression of a callback.
    pub fn path(&self) -> &'a str {
        self.path
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
        self.item.path
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
    pub fn request_body(&self) -> Option<RequestBody<'a>> {
        self.object.child("requestBody").and_then(RequestBody::new)
    }

    /// The responses by status code, range or `default`, references resolved.
    pub fn responses(&self) -> impl Iterator<Item = (&'a str, Response<'a>)> {
        let responses = self.object.child("responses").into_iter().flat_map(|responses| responses.parts());
        responses.filter_map(|object| Some((object.name(), Response::new(object)?)))
    }

    /// The security that applies: its own, else that of the document (section 4.7.10, `security`).
    pub fn security(&self) -> Security<'a> {
        Security::of(self.object)
    }

    /// The servers that apply: its own, else those of the path item, else those of the document
    /// (section 4.7.10, `servers`). Empty where none is given, which stands for the URL `/`.
    pub fn servers(&self) -> Vec<Server<'a>> {
        let owners = [self.object, self.item.declared, self.item.object, self.object.model().root()];
        let mut lists =
            owners.into_iter().map(|owner| owner.children("servers").map(Server).collect::<Vec<_>>());
        lists.find(|servers| !servers.is_empty()).unwrap_or_default()
    }

    /// Whether the operation is deprecated.
    pub fn is_deprecated(&self) -> bool {
        self.object.flag("deprecated")
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

/// A Server Object.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a>(Object<'a>);

impl<'a> Server<'a> {
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

    /// The Server Variable Objects; the name of each is its variable.
    pub fn variables(&self) -> impl Iterator<Item = Object<'a>> {
        self.0.children("variables")
    }
}

deref_to_object!(PathItem, object);
deref_to_object!(Operation, object);
deref_to_object!(Server, 0);
