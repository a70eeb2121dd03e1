//! Reads an operation from its `#[endpoint]` function.

use syn::punctuated::Punctuated;
use syn::{
    Expr, FnArg, GenericArgument, Ident, ItemFn, MetaNameValue, PathArguments, ReturnType, Token, Type,
};

use super::index::Spot;
use super::types::{last_ident, text_of};

/// An operation.
pub(super) struct Endpoint {
    /// Its `operationId`.
    pub(super) id: String,
    pub(super) path: String,
    /// In lower case, as in the document.
    pub(super) method: String,
    pub(super) function: Spot,
    /// The keys of the attribute, each with its value.
    keys: Vec<(String, Spot)>,
    /// The first argument, `RequestContext<C>`; the function if there is none.
    pub(super) context: Spot,
    /// The extractors: `Path<T>`, `Query<T>`, `TypedBody<T>`.
    pub(super) inputs: Vec<Named>,
    /// The error type.
    pub(super) error: Option<Named>,
    /// The return type.
    pub(super) output: Spot,
    /// The part of the return type that has the status of success: `HttpResponseOk<T>`.
    pub(super) success: Option<Named>,
    /// The type of the response headers.
    pub(super) headers: Option<Named>,
}

/// A type that is recognised by its name, with the name of its first argument, if it has one.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) of: String,
    pub(super) spot: Spot,
}

impl Endpoint {
    /// Reads the operation of a function, if it has one.
    pub(super) fn read(file: usize, item: &ItemFn) -> Option<Self> {
        let attribute = item.attrs.iter().find(|attribute| attribute.path().is_ident("endpoint"))?;
        let pairs = attribute.parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated);
        let pairs = pairs.ok()?;
        let value = |key: &str| pairs.iter().find(|pair| pair.path.is_ident(key)).map(|pair| &pair.value);
        let text = |key: &str| value(key).and_then(text_of);
        let method = match value("method") {
            Some(Expr::Path(method)) => method.path.get_ident().map(Ident::to_string),
            _ => None,
        };
        let function = Spot::of(file, &item.sig.ident);
        let mut arguments = item.sig.inputs.iter();
        let context = arguments.next().map_or(function, |context| Spot::of(file, context));
        let inputs = arguments.filter_map(|argument| match argument {
            FnArg::Typed(argument) => input(file, &argument.ty),
            FnArg::Receiver(_) => None,
        });
        let ReturnType::Type(_, output) = &item.sig.output else { return None };
        let error = parts(output).and_then(|(_, types)| named(file, types.get(1)?));
        // From the outermost type inwards: `Result<HttpResponseHeaders<HttpResponseOk<Pet>, NextPage>, E>`.
        let layers: Vec<&Type> =
            std::iter::successors(Some(&**output), |of| parts(of)?.1.first().copied()).collect();
        let layer = |wanted: fn(&str) -> bool| {
            layers.iter().copied().find(|of| parts(of).is_some_and(|(name, _)| wanted(&name)))
        };
        let headers = layer(|name| name == "HttpResponseHeaders");
        let success = layer(|name| name.starts_with("HttpResponse") && name != "HttpResponseHeaders");
        Some(Self {
            id: text("operation_id").unwrap_or_else(|| item.sig.ident.to_string()),
            path: text("path").unwrap_or_default(),
            method: method.unwrap_or_default().to_lowercase(),
            function,
            context,
            inputs: inputs.collect(),
            error,
            output: Spot::of(file, output),
            success: success.and_then(|success| named(file, success)),
            headers: headers.and_then(|of| named(file, parts(of)?.1.get(1)?)),
            keys: pairs
                .iter()
                .filter_map(|pair| Some((pair.path.get_ident()?.to_string(), Spot::of(file, pair))))
                .collect(),
        })
    }

    /// Returns a key of the attribute with its value, or the function if the attribute does not have it.
    pub(super) fn key(&self, key: &str) -> Spot {
        let found = self.keys.iter().find(|(known, _)| known == key);
        found.map_or(self.function, |(_, spot)| *spot)
    }

    /// Returns the input of an extractor.
    pub(super) fn input(&self, extractor: &str) -> Option<&Named> {
        self.inputs.iter().find(|input| input.name == extractor)
    }
}

/// Returns an extractor, without `Option`.
fn input(file: usize, of: &Type) -> Option<Named> {
    let (name, arguments) = parts(of)?;
    let inner = arguments.first().filter(|_| name == "Option");
    named(file, inner.copied().unwrap_or(of))
}

fn named(file: usize, of: &Type) -> Option<Named> {
    let (name, arguments) = parts(of)?;
    let inner = arguments.first().and_then(|inner| last_ident(inner)).unwrap_or_default();
    Some(Named { name, of: inner, spot: Spot::of(file, of) })
}

/// Returns the name of a type, and those of its arguments that are types.
pub(super) fn parts(of: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = of else { return None };
    let segment = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Some((segment.ident.to_string(), Vec::new()));
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    });
    Some((segment.ident.to_string(), types.collect()))
}
