//! `#[derive(Event)]` and `#[derive(Named)]` for the crate `timeline`, which re-exports them.
//!
//! Their documentation is in that crate, in src/derives.rs: for examples here the library would be
//! compiled once more, as part of the compiler.
//!
//! options.rs reads the options of a struct, message.rs makes its message, expand.rs the call of a
//! statement that it becomes; named.rs makes the code of an enum.

mod expand;
mod message;
mod named;
mod options;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

#[expect(missing_docs, reason = "src/derives.rs documents it")]
#[proc_macro_derive(Event, attributes(event))]
pub fn event(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    match expand::event(&input) {
        Ok(code) => code.into(),
        Err(error) => error.into_compile_error().into(),
    }
}

#[expect(missing_docs, reason = "src/derives.rs documents it")]
#[proc_macro_derive(Named, attributes(event))]
pub fn named(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    match named::named(&input) {
        Ok(code) => code.into(),
        Err(error) => error.into_compile_error().into(),
    }
}
