//! The code of a struct that is an event: one call of the library's statements.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Field, Fields, GenericParam, Generics, LitStr, Path, Result,
    parse_quote,
};

use crate::message::{by_name, places};
use crate::options::{StructOptions, documentation, is_skipped, name};

pub fn event(input: &DeriveInput) -> Result<TokenStream> {
    let options = StructOptions::of(&input.attrs)?;
    let fields = logged(input)?;
    let category = options.category.as_ref().ok_or_else(|| {
        let expected = "an event needs a category: #[event(category = \"net\")]";
        Error::new(input.ident.span(), expected)
    })?;
    let (message, order) = message(input, &options, &fields)?;
    let names: Vec<String> = order.iter().map(|field| own_name(field)).collect();
    let library = &options.library;
    let statement = quote!(#library::statement);
    let channels = options.channels.clone();
    let channels = channels.unwrap_or(LitStr::new("", Span::call_site()));
    let important = options.important;
    let functions = functions(input, &options, &order);
    let generics = bounded(&input.generics, &order, library);
    let (implemented, arguments, conditions) = generics.split_for_impl();
    let structure = &input.ident;
    Ok(quote! {
        const _: () = {
            #statement::check(#category, #message, &[#(#names),*]);
            #statement::check_channels(#channels);
            // Items and variables have names here that no type of a field has.
            const __TIMELINE_LENGTH: usize = #statement::length_without_types(#message);
            static __TIMELINE_SITES: #statement::Sites =
                #statement::Sites::new(#statement::StatementText {
                    category: #statement::literal!(#category),
                    message: #statement::literal!(#message),
                    place: (#statement::literal!(::core::file!()), ::core::line!()),
                    attributes: #library::Attributes {
                        channels: #statement::literal!(#channels),
                        important: #important,
                    },
                });

            #[automatically_derived]
            #[allow(private_bounds, trivial_bounds, reason = "of each field, whatever it is")]
            impl #implemented #structure #arguments #conditions {
                #functions
            }
        };
    })
}

/// Whether something decides about the types of fields: a type, or a constant.
fn is_generic(input: &DeriveInput) -> bool {
    let mut parameters = input.generics.params.iter();
    parameters.any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)))
}

/// `log` and `define`.
fn functions(input: &DeriveInput, options: &StructOptions, order: &[&Field]) -> TokenStream {
    let library = &options.library;
    let statement = quote!(#library::statement);
    let priority = match options.priority.get_ident() {
        Some(priority) => quote!(#library::Priority::#priority),
        None => options.priority.to_token_stream(),
    };
    let types = list(order, |field| {
        let kind = &field.ty;
        quote_spanned!(kind.span()=> &#kind)
    });
    let values = list(order, |field| {
        let name = &field.ident;
        quote_spanned!(field.ty.span()=> &self.#name)
    });
    // An event of its own for each set of types.
    let how = match is_generic(input) {
        true => quote!(#statement::Each),
        false => quote!(#statement::One),
    };
    let (count, visible) = (order.len(), &input.vis);
    quote! {
        /// Logs the event, if it is enabled. Defines it when it first runs for a timeline.
        #[allow(dead_code, reason = "one of two ways")]
        #[inline]
        #visible fn log(&self, timeline: &#library::Timeline) {
            if #statement::ON {
                let __values = #values;
                let __arguments = #statement::Arguments::of(&__values);
                let __event = __TIMELINE_SITES.event(timeline, #priority, __arguments);
                if let ::core::option::Option::Some(__event) = __event {
                    __arguments.log::<#count>(timeline, __event, __values, #how);
                }
                __arguments.fits::<__TIMELINE_LENGTH>();
            }
        }

        /// Defines the event, so that `log` takes no lock when it first runs.
        ///
        /// # Errors
        /// Those of `Timeline::define_event`.
        #[allow(dead_code, reason = "one of two ways")]
        #visible fn define(timeline: &#library::Timeline) -> #library::Result<#library::EventId> {
            let __arguments = #statement::Arguments::<#types, #how>::new();
            __arguments.fits::<__TIMELINE_LENGTH>();
            __TIMELINE_SITES.define_first(timeline, #priority, __arguments)
        }
    }
}

/// The fields that are logged.
fn logged(input: &DeriveInput) -> Result<Vec<&Field>> {
    let expected = "an event is a struct with named fields";
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), expected));
    };
    if let Fields::Unnamed(fields) = &data.fields {
        return Err(Error::new(fields.span(), expected));
    }
    let mut logged = Vec::new();
    for field in &data.fields {
        if is_skipped(&field.attrs)? {
            continue;
        }
        if !own_name(field).is_ascii() {
            let expected = "the name of a field is of ASCII letters, digits and _";
            return Err(Error::new(field.ident.span(), expected));
        }
        logged.push(field);
    }
    match logged.get(64) {
        Some(field) => Err(Error::new(field.span(), "an event has at most 64 fields")),
        None => Ok(logged),
    }
}

fn own_name(field: &Field) -> String {
    field.ident.as_ref().map(name).unwrap_or_default()
}

/// The message with its prose, and the fields in the order of their places.
fn message<'a>(
    input: &DeriveInput,
    options: &StructOptions,
    fields: &[&'a Field],
) -> Result<(LitStr, Vec<&'a Field>)> {
    let prose = documentation(&input.attrs);
    let (text, order) = match &options.message {
        Some(message) => (message.value(), ordered(message, input, fields)?),
        None => {
            let names: Vec<String> = fields.iter().map(|field| own_name(field)).collect();
            (by_name(&name(&input.ident), &names), fields.to_vec())
        }
    };
    let text = if prose.is_empty() {
        text
    } else {
        format!("{text}\n{prose}")
    };
    let span = options
        .message
        .as_ref()
        .map_or(input.ident.span(), LitStr::span);
    Ok((LitStr::new(&text, span), order))
}

/// The fields in the order of the places of a message.
fn ordered<'a>(
    message: &LitStr,
    input: &DeriveInput,
    fields: &[&'a Field],
) -> Result<Vec<&'a Field>> {
    let names = places(message)?;
    if let Some(missing) = fields
        .iter()
        .find(|field| !names.contains(&own_name(field)))
    {
        let name = own_name(missing);
        let text = format!(
            "field `{name}` has no place in the message: write {{{name}}}, or #[event(skip)] here"
        );
        return Err(Error::new(missing.ident.span(), text));
    }
    let field = |name: &String| {
        let found = fields.iter().find(|field| own_name(field) == *name);
        found.copied().ok_or_else(|| {
            let text = format!(
                "the message has a place {{{name}}}, but `{}` logs no field of that name",
                input.ident
            );
            Error::new(message.span(), text)
        })
    };
    names.iter().map(field).collect()
}

/// A list of the library: `(a, (b, ()))`.
fn list(fields: &[&Field], item: impl Fn(&Field) -> TokenStream) -> TokenStream {
    fields.iter().rev().fold(quote!(()), |rest, field| {
        let item = item(field);
        quote_spanned!(field.ty.span()=> (#item, #rest))
    })
}

/// The generics, and that fields are arguments of events: for those whose types have parameters,
/// and so that the compiler shows the type that is none.
fn bounded(generics: &Generics, fields: &[&Field], library: &Path) -> Generics {
    let mut bounded = generics.clone();
    let conditions = bounded.make_where_clause();
    for field in fields {
        let kind = &field.ty;
        let library = at(library.to_token_stream(), kind.span());
        let bound = quote_spanned!(kind.span()=> #kind: #library::Argument);
        conditions.predicates.push(parse_quote!(#bound));
    }
    bounded
}

/// Tokens as if they stood there.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let there = tokens.into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    there.collect()
}
