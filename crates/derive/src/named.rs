//! The code of an enum whose values have names.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::options::{library, name};

pub fn named(input: &DeriveInput) -> Result<TokenStream> {
    let expected = "names are those of an enum without fields";
    let wrong = |span, text: &str| Err(Error::new(span, text));
    let own = &input.ident;
    let Data::Enum(data) = &input.data else {
        return wrong(own.span(), expected);
    };
    if data.variants.is_empty() {
        return wrong(own.span(), "an enum without variants has no names");
    }
    if !input.generics.params.is_empty() {
        return wrong(own.span(), "an enum with names has no parameters");
    }
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return wrong(variant.ident.span(), expected);
        }
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let names = variants.iter().map(|variant| name(variant));
    let library = library(&input.attrs)?;
    let statement = quote!(#library::statement);
    Ok(quote! {
        #[allow(deprecated, reason = "all have names")]
        const _: () = {
            const __TIMELINE_NAMES: &[(&str, i64)] = &[#((#names, #own::#variants as i64)),*];
            const __TIMELINE_LIST: [u8; #statement::length_of_names(__TIMELINE_NAMES)] =
                #statement::list_of_names(__TIMELINE_NAMES);

            #[automatically_derived]
            impl #library::Named for #own {
                const NAMES: &'static str = #statement::text_of_names(&__TIMELINE_LIST);
            }

            #[automatically_derived]
            impl #statement::Fixed for #own {}

            #[automatically_derived]
            impl #library::Argument for #own {
                const TYPE: #library::FieldType<'static> = #statement::enum_of::<Self>();

                #[inline(always)]
                fn store(&self, _: &mut #statement::PayloadBuilder) -> u64 {
                    match self {
                        #(Self::#variants => Self::#variants as i64 as u64),*
                    }
                }
            }
        };
    })
}
