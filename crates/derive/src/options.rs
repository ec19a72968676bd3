//! What `#[event(…)]` says about a struct or a field.

use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Result, parse_quote};

/// The options of a struct.
pub struct StructOptions {
    pub category: Option<LitStr>,
    pub priority: Path,
    pub message: Option<LitStr>,
    pub channels: Option<LitStr>,
    pub important: bool,
    /// The crate `timeline`.
    pub library: Path,
}

const KNOWN: &str = "expected category, priority, message, channels, important or crate";

impl StructOptions {
    pub fn of(attributes: &[Attribute]) -> Result<StructOptions> {
        let mut options = StructOptions {
            category: None,
            priority: parse_quote!(Info),
            message: None,
            channels: None,
            important: false,
            library: parse_quote!(::timeline),
        };
        let mut seen = Vec::new();
        for attribute in attributes.iter().filter(|own| own.path().is_ident("event")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().ok_or_else(|| meta.error(KNOWN))?;
                if seen.contains(name) {
                    return Err(meta.error(format!("`{name}` stands here twice")));
                }
                seen.push(name.clone());
                options.read(&name.to_string(), &meta)
            })?;
        }
        Ok(options)
    }

    fn read(&mut self, name: &str, meta: &ParseNestedMeta) -> Result<()> {
        match name {
            "category" => self.category = Some(meta.value()?.parse()?),
            "priority" => self.priority = meta.value()?.parse()?,
            "message" => self.message = Some(meta.value()?.parse()?),
            "channels" => self.channels = Some(meta.value()?.parse()?),
            "important" => self.important = true,
            "crate" => self.library = meta.value()?.parse()?,
            _ => return Err(meta.error(KNOWN)),
        }
        Ok(())
    }
}

/// The crate `timeline` of an enum, which has no other option.
pub fn library(attributes: &[Attribute]) -> Result<Path> {
    let mut library = parse_quote!(::timeline);
    for attribute in attributes.iter().filter(|own| own.path().is_ident("event")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(meta.error("expected crate"));
            }
            library = meta.value()?.parse()?;
            Ok(())
        })?;
    }
    Ok(library)
}

/// Whether a field is left out.
pub fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skip = false;
    for attribute in attributes.iter().filter(|own| own.path().is_ident("event")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("skip") {
                return Err(meta.error("expected skip"));
            }
            skip = true;
            Ok(())
        })?;
    }
    Ok(skip)
}

/// The documentation, line by line, without the space that stands before each.
pub fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else {
            return None;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &meta.value
        else {
            return None;
        };
        let line = text.value();
        let line = line.strip_prefix(' ').unwrap_or(&line).trim_end();
        attribute.path().is_ident("doc").then(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// The name of a field as messages have it.
pub fn name(field: &Ident) -> String {
    field.unraw().to_string()
}
