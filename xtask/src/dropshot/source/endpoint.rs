//! An operation as its `#[endpoint]` function writes it down.

use syn::punctuated::Punctuated;
use syn::{Expr, FnArg, GenericArgument, ItemFn, MetaNameValue, PathArguments, ReturnType, Token, Type};

use super::index::Spot;
use super::types::{last_ident, text_of};

/// An operation.
pub(super) struct Endpoint {
    /// Its `operationId`.
    pub(super) id: String,
    pub(super) path: String,
    /// In lower case, as the document has it.
    pub(super) method: String,
    pub(super) function: Spot,
    /// The keys of its attribute, each with its value.
    keys: Vec<(String, Spot)>,
    /// The argument that reads key and input, `Call<I, E>`; the function without one.
    pub(super) call: Spot,
    /// Its extractors: `Path<T>`, `Query<T>`, `Json<T>`.
    pub(super) inputs: Vec<Named>,
    /// What it fails with.
    pub(super) error: Option<Named>,
    /// What it returns.
    pub(super) output: Spot,
    /// The part of it that has the status of success: `HttpResponseOk<T>`.
    pub(super) success: Option<Named>,
    /// The type of its headers.
    pub(super) headers: Option<Named>,
}

/// A type that has a meaning by its name, with the name of its first argument, if it has one.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) of: String,
    pub(super) spot: Spot,
}

impl Endpoint {
    /// The operation, if the function is one.
    pub(super) fn read(file: usize, function: &ItemFn) -> Option<Self> {
        let attribute = function.attrs.iter().find(|attribute| attribute.path().is_ident("endpoint"))?;
        let pairs = attribute.parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated);
        let pairs = pairs.ok()?;
        let ReturnType::Type(_, returned) = &function.sig.output else { return None };
        let name = Spot::of(file, &function.sig.ident);
        let mut endpoint = Self {
            id: function.sig.ident.to_string(),
            path: String::new(),
            method: String::new(),
            function: name,
            keys: Vec::new(),
            call: name,
            inputs: Vec::new(),
            error: None,
            output: Spot::of(file, returned),
            success: None,
            headers: None,
        };
        for pair in &pairs {
            let Some(key) = pair.path.get_ident() else { continue };
            endpoint.keys.push((key.to_string(), Spot::of(file, pair)));
            match (key.to_string().as_str(), &pair.value) {
                ("operation_id", value) => endpoint.id = text_of(value)?,
                ("path", value) => endpoint.path = text_of(value)?,
                ("method", Expr::Path(method)) => {
                    endpoint.method = method.path.get_ident()?.to_string().to_lowercase();
                }
                _ => {}
            }
        }
        for argument in &function.sig.inputs {
            let FnArg::Typed(argument) = argument else { continue };
            let Some((name, arguments)) = parts(&argument.ty) else { continue };
            if name == "Call" {
                endpoint.call = Spot::of(file, argument);
                endpoint.inputs = arguments.first().map(|input| inputs(file, input)).unwrap_or_default();
                endpoint.error = arguments.get(1).and_then(|error| named(file, error));
            }
        }
        // `Answer<HttpResponseHeaders<HttpResponseOk<Pet>, NextPage>>`, from the outside.
        let mut part: Option<&Type> = Some(returned);
        while let Some((name, arguments)) = part.and_then(parts) {
            if name == "HttpResponseHeaders" {
                endpoint.headers = arguments.get(1).and_then(|headers| named(file, headers));
            } else if name.starts_with("HttpResponse") {
                endpoint.success = part.and_then(|success| named(file, success));
                break;
            }
            part = arguments.first().copied();
        }
        Some(endpoint)
    }

    /// A key of the attribute with its value, else the function.
    pub(super) fn key(&self, key: &str) -> Spot {
        let found = self.keys.iter().find(|(known, _)| known == key);
        found.map_or(self.function, |(_, spot)| *spot)
    }

    /// The input that this extractor reads.
    pub(super) fn input(&self, extractor: &str) -> Option<&Named> {
        self.inputs.iter().find(|input| input.name == extractor)
    }
}

/// One input, or a tuple of them.
fn inputs(file: usize, of: &Type) -> Vec<Named> {
    match of {
        Type::Tuple(tuple) => tuple.elems.iter().flat_map(|part| inputs(file, part)).collect(),
        _ => named(file, of).into_iter().collect(),
    }
}

fn named(file: usize, of: &Type) -> Option<Named> {
    let (name, arguments) = parts(of)?;
    let inner = arguments.first().and_then(|inner| last_ident(inner)).unwrap_or_default();
    Some(Named { name, of: inner, spot: Spot::of(file, of) })
}

/// The name of a type and the types among its arguments.
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
