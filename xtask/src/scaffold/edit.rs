//! Lines for existing files: where they belong, and how all files are written together.

use std::fmt;
use std::path::Path;

use syn::spanned::Spanned;
use syn::visit::Visit;

use super::Scaffold;

/// Lines for an existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The path of the file from the root.
    pub path: String,
    /// The place in it.
    pub place: Place,
    /// The lines, without indentation.
    pub lines: Vec<String>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the last declaration of a module that is a file.
    Modules,
    /// Before the `Ok(api)` that ends the function `api`.
    Registrations,
    /// In the array of the field `tags` of `TagConfig`.
    Tags,
    /// After the last line.
    End,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Modules => "after the last `mod` declaration",
            Self::Registrations => "before the `Ok(api)` of the function `api`",
            Self::Tags => "into `tags` of `TagConfig`",
            Self::End => "after the last line",
        })
    }
}

impl Addition {
    /// The text with those lines that it lacks, or the text itself if it has all of them.
    ///
    /// # Errors
    /// When the file has no such place.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let has = |line: &String| match self.place {
            Place::Tags => {
                text.contains(line.split_once(".to_owned()").map_or(line.as_str(), |(tag, _)| tag))
            }
            _ => text.lines().any(|known| known.trim() == line),
        };
        let lines: Vec<&String> = self.lines.iter().filter(|line| !has(line)).collect();
        if lines.is_empty() {
            return Ok(text.to_owned());
        }
        let missing = || {
            format!("{}: there is no place {}; add by hand: {}", self.path, self.place, self.lines.join(" "))
        };
        let file = syn::parse_file(text).map_err(|error| format!("{}: {error}", self.path))?;
        let at =
            self.place.offset(&file, text).filter(|at| text.is_char_boundary(*at)).ok_or_else(missing)?;
        let (before, after) = text.split_at(at);
        let mut edited = before.to_owned();
        for line in lines {
            match self.place {
                Place::Tags => edited.push_str(&format!("{line} ")),
                Place::Registrations => edited.push_str(&format!("    {line}\n")),
                Place::Modules | Place::End => edited.push_str(&format!("{line}\n")),
            }
        }
        edited.push_str(after);
        Ok(edited)
    }
}

impl Place {
    /// The offset in the text at which lines are inserted.
    fn offset(self, file: &syn::File, text: &str) -> Option<usize> {
        let next_line = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        match self {
            Self::End => Some(text.len()),
            Self::Modules => {
                let mut modules = file.items.iter().filter_map(|item| match item {
                    syn::Item::Mod(module) if module.content.is_none() => {
                        Some(module.span().byte_range().end)
                    }
                    _ => None,
                });
                modules.next_back().map(next_line)
            }
            Self::Registrations => {
                let function = file.items.iter().find_map(|item| match item {
                    syn::Item::Fn(function) if function.sig.ident == "api" => Some(function),
                    _ => None,
                })?;
                let at = function.block.stmts.last()?.span().byte_range().start;
                text[at..].starts_with("Ok(api)").then(|| text[..at].rfind('\n').map_or(0, |line| line + 1))
            }
            Self::Tags => {
                let mut tags = Tags(None);
                tags.visit_file(file);
                tags.0
            }
        }
    }
}

/// Finds the first offset inside the array of the field `tags` of a `TagConfig`.
struct Tags(Option<usize>);

impl<'ast> Visit<'ast> for Tags {
    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        let is_config = literal.path.segments.last().is_some_and(|segment| segment.ident == "TagConfig");
        let field = literal
            .fields
            .iter()
            .find(|field| is_config && matches!(&field.member, syn::Member::Named(name) if name == "tags"));
        let receiver = field.and_then(|field| match &field.expr {
            syn::Expr::MethodCall(call) => Some(&*call.receiver),
            _ => None,
        });
        if let Some(syn::Expr::Array(array)) = receiver {
            self.0 = Some(array.bracket_token.span.open().byte_range().end);
        }
    }
}

impl Scaffold {
    /// Writes the new files and edits the existing ones. Returns the paths of the files that changed. A file
    /// that exists with the same text is left alone, so that writing twice changes nothing.
    ///
    /// # Errors
    /// A file that exists with another text, or has no place for its lines; nothing is written then. Or the
    /// first file that cannot be written.
    pub fn write(&self, root: &Path) -> Result<Vec<String>, String> {
        let wrong = |path: &str, problem: &dyn fmt::Display| format!("{path}: {problem}");
        let mut planned: Vec<(String, String)> = Vec::new();
        for (path, text) in &self.files {
            match std::fs::read_to_string(root.join(path)) {
                Ok(known) if known == *text => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    planned.push((path.clone(), text.clone()))
                }
                Ok(_) => {
                    return Err(wrong(path, &"the file exists and has another text; nothing was written"));
                }
                Err(error) => return Err(wrong(path, &error)),
            }
        }
        for addition in &self.additions {
            let path = &addition.path;
            let position = planned.iter().position(|(known, _)| known == path);
            let text = match position {
                Some(position) => planned.remove(position).1,
                None => std::fs::read_to_string(root.join(path)).map_err(|error| wrong(path, &error))?,
            };
            let edited = addition.apply(&text)?;
            if position.is_some() || edited != text {
                planned.push((path.clone(), edited));
            }
        }
        for (path, text) in &planned {
            let path = root.join(path);
            let directory = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            directory
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| wrong(&path.display().to_string(), &error))?;
        }
        Ok(planned.into_iter().map(|(path, _)| path).collect())
    }
}
