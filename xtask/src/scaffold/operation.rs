//! The file of an operation: its endpoint, what it takes, what it answers, why it fails.

use std::collections::BTreeSet;

use animal_store::call::JUDGED;
use animal_store::edge;
use animal_store::input::{Input, Json, Path, Query};
use animal_store::keys::SCHEME_NAME;
use animal_store::responses::Code as ErrorCode;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::code::{Code, doc};
use super::parameters::{self, Taken};
use super::types::{Place, Scope, Types};
use super::{answer, names};

/// An operation of the document.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) path: String,
    /// In lower case.
    pub(super) method: String,
    /// With what its path item shares.
    pub(super) object: Value,
}

/// What became of it.
pub(super) struct Made {
    /// The file's name without its ending, which is that of the function too.
    pub(super) module: String,
    pub(super) text: String,
    /// What the code does not do, though the document says so.
    pub(super) notes: Vec<String>,
    /// The request that the test makes.
    pub(super) taken: Taken,
    /// The status of its success.
    pub(super) status: u16,
}

impl Operation {
    /// Its `operationId`.
    pub(super) fn id(&self) -> Result<&str, String> {
        let id = self.object.get("operationId").and_then(Value::as_str).unwrap_or_default();
        if names::file(id).is_none() {
            return Err("it needs an `operationId` that can be the name of a Rust file".to_owned());
        }
        Ok(id)
    }

    fn is_deprecated(&self) -> bool {
        self.object.get("deprecated") == Some(&Value::Bool(true))
    }

    /// The operation as a file.
    pub(super) fn make(&self, scope: &Scope<'_>, empty: Code) -> Result<Made, String> {
        let id = self.id()?;
        self.security(scope)?;
        for keyword in ["callbacks", "servers"] {
            if self.object.get(keyword).is_some() {
                return Err(format!("dropshot has nothing for `{keyword}` of an operation"));
            }
        }
        let module = names::file(id).unwrap_or_default();
        let mut types = Types {
            scope,
            code: empty,
            place: Place::Json,
            read: false,
            written: true,
            visible: quote! { pub(super) },
            current: None,
            made: Vec::new(),
            notes: Vec::new(),
        };
        let function = names::snake(id);
        let error = format_ident!("{}", types.code.free(&format!("{}Error", names::pascal(id))));
        let success = answer::make(&mut types, self, scope)?;
        let taken = parameters::make(&mut types, self, scope)?;
        let endpoint = self.endpoint(&mut types.code, id, &function, &error, &taken, &success.tokens)?;
        let codes = self.codes(&mut types, scope, &taken)?;
        let own_types = std::mem::take(&mut types.code);
        let mut code = Code::default();
        code.push(endpoint);
        code.extend(own_types);
        refusal(&mut code, id, &error, &codes);
        let (verb, path) = (self.method.to_uppercase(), &self.path);
        let text = code.text(&format!("`{id}`: `{verb} {path}`."))?;
        let text = text.replacen("#[endpoint]", &self.attribute(id)?, 1);
        let status = success.status;
        Ok(Made { module, text, notes: types.notes, taken, status })
    }

    /// Every call is judged by its key, so nothing else can be promised.
    fn security(&self, scope: &Scope<'_>) -> Result<(), String> {
        let security = self.object.get("security").or_else(|| scope.document.get("security"));
        let key = serde_json::json!([{ SCHEME_NAME: [] }]);
        match security {
            Some(security) if *security == key => Ok(()),
            _ => Err(format!(
                "the service answers no operation without the key `{SCHEME_NAME}`, and knows no other"
            )),
        }
    }

    fn endpoint(
        &self,
        code: &mut Code,
        id: &str,
        function: &Ident,
        error: &Ident,
        taken: &Taken,
        success: &TokenStream,
    ) -> Result<TokenStream, String> {
        code.import_all(&["dropshot::RequestContext", "dropshot::endpoint"]);
        code.import_all(&["crate::call::Call", "crate::responses::Answer", "crate::service::Service"]);
        let summary = self.object.get("summary").and_then(Value::as_str);
        let comment = doc(summary, &format!("`{id}`."));
        let Taken { input, pattern, bindings, .. } = taken;
        let bound = match bindings.is_empty() {
            true => quote! { service },
            false => quote! { (service, #(#bindings),*) },
        };
        Ok(quote! {
            #comment
            #[endpoint]
            pub(super) async fn #function(
                context: RequestContext<Service>,
                call: Call<#input, #error>,
            ) -> Answer<#success> {
                call.answer(context, |service, #pattern| async move {
                    let _ = #bound;
                    Err(#error::NotImplemented)
                })
                .await
            }
        })
    }

    /// The attribute of its endpoint. The formatter leaves the inside of attributes alone, so this is
    /// written as people write it.
    fn attribute(&self, id: &str) -> Result<String, String> {
        if !["get", "put", "post", "delete", "patch", "options", "head"].contains(&self.method.as_str()) {
            return Err(format!("dropshot knows no method `{}`", self.method));
        }
        let tags = self.tags();
        if tags.is_empty() {
            return Err("the service wants a tag on each operation".to_owned());
        }
        let (method, path) = (self.method.to_uppercase(), &self.path);
        let deprecated = if self.is_deprecated() { "    deprecated = true,\n" } else { "" };
        Ok(format!(
            "#[endpoint {{\n    method = {method},\n    path = {path:?},\n    operation_id = {id:?},\n    \
             tags = {tags:?},\n{deprecated}}}]"
        ))
    }

    /// Its tags.
    pub(super) fn tags(&self) -> Vec<&str> {
        let tags = self.object.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The codes that its own error must declare, for the statuses that nothing else accounts for.
    fn codes(
        &self,
        types: &mut Types<'_>,
        scope: &Scope<'_>,
        taken: &Taken,
    ) -> Result<Vec<ErrorCode>, String> {
        type Anything = Map<String, Value>;
        let mut others: Vec<ErrorCode> = JUDGED.to_vec();
        if taken.path {
            others.extend(<Path<Anything> as Input>::codes());
        }
        if taken.query {
            others.extend(<Query<Anything> as Input>::codes());
        }
        if taken.body.is_some() {
            others.extend(<Json<Anything> as Input>::codes());
        }
        let nothing = Map::new();
        let declared = self.object.get("responses").and_then(Value::as_object).unwrap_or(&nothing);
        let mut own = Vec::new();
        for (status, response) in declared.iter().filter(|(status, _)| !status.starts_with(['1', '2', '3'])) {
            let mut codes: Vec<ErrorCode> =
                others.iter().copied().filter(|code| code.status().as_str() == status).collect();
            // That a path names nothing, and that there is no such thing, are one status.
            if codes.is_empty() || codes == [ErrorCode::NotFound] {
                let known = ErrorCode::ALL.into_iter().find(|code| code.status().as_str() == status);
                match known.filter(|code| variant(*code).is_some()) {
                    Some(code) => {
                        own.push(code);
                        codes = vec![code];
                    }
                    None => {
                        types.notes.push(format!(
                            "{status}: the service has no code for this status. Add one to `Code` and `Refusal` in \
                             src/responses.rs, and to the codes below."
                        ));
                        continue;
                    }
                }
            }
            self.error_headers(types, scope, status, response, &codes);
        }
        let undeclared: BTreeSet<u16> = others
            .iter()
            .map(|code| code.status().as_u16())
            .filter(|status| !declared.contains_key(&status.to_string()))
            .collect();
        for status in undeclared {
            types.notes.push(format!(
                "{status}: what the operation takes can be answered so. Declare it in the document."
            ));
        }
        Ok(own)
    }

    fn error_headers(
        &self,
        types: &mut Types<'_>,
        scope: &Scope<'_>,
        status: &str,
        response: &Value,
        codes: &[ErrorCode],
    ) {
        let response = scope.resolve(response);
        let mut known: Vec<&str> =
            edge::headers(self.is_deprecated()).iter().map(|header| header.name).collect();
        known.extend(codes.iter().flat_map(|code| code.headers()).map(|header| header.name));
        let declared = response.get("headers").and_then(Value::as_object);
        for name in declared.into_iter().flatten().map(|(name, _)| name) {
            if !known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                types.notes.push(format!(
                    "{status}: no code of this status has the header `{name}`. Add it to `Code::headers` and \
                     `Refusal::parts` in src/responses.rs, where it then holds for every operation."
                ));
            }
        }
    }
}

/// How an operation's own error becomes a refusal: the type that its variant carries, and how it is passed on.
fn variant(code: ErrorCode) -> Option<Option<TokenStream>> {
    match code {
        ErrorCode::NotFound => Some(Some(quote! { &'static str })),
        ErrorCode::InvalidParameter | ErrorCode::InvalidBody => Some(Some(quote! { String })),
        ErrorCode::RequestTimeout | ErrorCode::BodyTooLarge | ErrorCode::UnsupportedMediaType => Some(None),
        _ => None,
    }
}

/// The operation's error, whose codes are the declared ones that nothing else accounts for.
fn refusal(code: &mut Code, id: &str, error: &Ident, codes: &[ErrorCode]) {
    code.import_all(&["crate::responses::Code", "crate::responses::Refusal", "crate::responses::Refuses"]);
    code.import("crate::storage::StoreError");
    let comment = doc(None, &format!("Why `{id}` was not done."));
    let names: Vec<Ident> = codes.iter().map(|code| format_ident!("{code:?}")).collect();
    let variants = codes.iter().zip(&names).map(|(code, name)| {
        let carried = variant(*code).flatten().map(|carried| quote! { (#carried) });
        quote! {
            #[expect(dead_code, reason = "scaffolding: the behaviour will answer it")]
            #name #carried,
        }
    });
    let arms = codes.iter().zip(&names).map(|(code, name)| match variant(*code).flatten() {
        Some(_) => quote! { #error::#name(message) => Self::#name(message), },
        None => quote! { #error::#name => Self::#name, },
    });
    code.push(quote! {
        #comment
        #[derive(Debug)]
        pub(super) enum #error {
            /// Scaffolding: there is no behaviour yet.
            NotImplemented,
            #(#variants)*
            Store(StoreError),
        }
    });
    code.push(quote! {
        impl Refuses for #error {
            const CODES: &'static [Code] = &[#(Code::#names,)* Code::Internal, Code::Unavailable];
        }
    });
    code.push(quote! {
        impl From<StoreError> for #error {
            fn from(error: StoreError) -> Self {
                Self::Store(error)
            }
        }
    });
    code.push(quote! {
        impl From<#error> for Refusal {
            fn from(error: #error) -> Self {
                match error {
                    #error::NotImplemented => Self::NotImplemented,
                    #(#arms)*
                    #error::Store(error) => error.into(),
                }
            }
        }
    });
}
