//! A slow model of the resolver: a tree in memory, full paths, no handles. It shares nothing with
//! the engine but the words of its answers.

use std::collections::BTreeMap;

/// What a name is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    Dir,
    File,
    Link(String),
}

/// A root: its name, its real path and whether it may be read.
#[derive(Debug, Clone)]
pub(crate) struct ModelRoot {
    pub(crate) name: &'static str,
    pub(crate) at: Vec<String>,
    pub(crate) readable: bool,
}

/// A disk in memory, by full paths, with roots and one forbidden name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) nodes: BTreeMap<Vec<String>, Node>,
    pub(crate) roots: Vec<ModelRoot>,
    pub(crate) outside: bool,
    pub(crate) forbidden: &'static str,
}

/// What is asked of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    OpenFile,
    OpenDir,
    Stat,
}

type Code = &'static str;

/// A place on the way: the path, and how much of it is the root's.
#[derive(Debug, Clone)]
struct Spot {
    path: Vec<String>,
    root: usize,
}

impl Model {
    /// Returns `ROOT:path` of what is reached, or the code.
    pub(crate) fn ask(&self, text: &str, ask: Ask) -> Result<String, Code> {
        let mut spot = None;
        let reached = self.reach(text, ask, &mut spot);
        let readable = spot.as_ref().is_none_or(|spot| self.may_read(spot));
        match reached {
            Err(code) if readable || code == "outside_sandbox" => Err(code),
            Ok(shown) if readable => Ok(shown),
            _ => Err("denied_by_policy"),
        }
    }

    fn reach(&self, text: &str, ask: Ask, at: &mut Option<Spot>) -> Result<String, Code> {
        if text.is_empty() {
            return Err("invalid_path");
        }
        let (start, rest) = self.start(text)?;
        let mut spot = start;
        let mut todo: Vec<String> = rest.into_iter().rev().collect();
        let mut must_be_dir = names_dir(text);
        let mut links = 0;
        loop {
            *at = Some(spot.clone());
            let Some(step) = todo.pop() else { break };
            if step == ".." {
                spot = self.above(&spot)?;
                continue;
            }
            let mut next = spot.path.clone();
            next.push(step.clone());
            if let Some(root) = self.root_at(&next) {
                spot = Spot { path: next, root };
                continue;
            }
            let top_of_disk = spot.path.is_empty();
            if step == self.forbidden
                || (top_of_disk && ["proc", "sys", "dev"].contains(&step.as_str()))
            {
                return Err("denied_by_policy");
            }
            let last = todo.is_empty();
            match self.nodes.get(&next) {
                None if last => return Err("not_found"),
                None => return Err("not_found"),
                Some(Node::Dir) => spot.path = next,
                Some(Node::Link(_)) if last && ask == Ask::Stat && !must_be_dir => {
                    return Ok(self.show(&Spot { path: next, ..spot }));
                }
                Some(Node::Link(target)) => {
                    links += 1;
                    if links > 40 {
                        return Err("invalid_path");
                    }
                    must_be_dir |= last && names_dir(target);
                    if target.starts_with('/') {
                        let (start, rest) = self.start(target)?;
                        spot = start;
                        todo.extend(rest.into_iter().rev());
                    } else {
                        todo.extend(parts(target).rev());
                    }
                }
                Some(Node::File) if !last || must_be_dir => return Err("not_a_directory"),
                Some(Node::File) if ask == Ask::OpenDir => return Err("not_a_directory"),
                Some(Node::File) => return Ok(self.show(&Spot { path: next, ..spot })),
            }
        }
        match ask {
            Ask::OpenFile => Err("is_a_directory"),
            _ => Ok(self.show(&spot)),
        }
    }

    /// Returns where a path starts and what is to go from there.
    fn start(&self, text: &str) -> Result<(Spot, Vec<String>), Code> {
        let all: Vec<String> = parts(text).collect();
        if text.starts_with('/') {
            let names = all.iter().take_while(|part| *part != "..").count();
            let best = (0..=names)
                .rev()
                .find_map(|count| Some((self.root_at(&all[..count])?, count)));
            return match best {
                Some((root, count)) => {
                    let path = self.roots[root].at.clone();
                    Ok((Spot { path, root }, all[count..].to_vec()))
                }
                None if self.outside => {
                    let root = usize::MAX;
                    Ok((
                        Spot {
                            path: Vec::new(),
                            root,
                        },
                        all,
                    ))
                }
                None => Err("outside_sandbox"),
            };
        }
        let named = text.split_once(':').and_then(|(name, rest)| {
            let root = self.roots.iter().position(|root| root.name == name)?;
            Some((root, rest))
        });
        let (root, rest) = named.unwrap_or((0, text));
        if rest.starts_with('/') {
            return Err("invalid_path");
        }
        let path = self.roots[root].at.clone();
        Ok((Spot { path, root }, parts(rest).collect()))
    }

    fn above(&self, spot: &Spot) -> Result<Spot, Code> {
        let mut path = spot.path.clone();
        path.pop();
        let inner = (0..=path.len())
            .rev()
            .find_map(|count| self.root_at(&path[..count]));
        match inner {
            Some(root) => Ok(Spot { path, root }),
            None if self.outside => Ok(Spot {
                path,
                root: usize::MAX,
            }),
            None => Err("outside_sandbox"),
        }
    }

    fn root_at(&self, path: &[String]) -> Option<usize> {
        self.roots.iter().position(|root| root.at == path)
    }

    fn may_read(&self, spot: &Spot) -> bool {
        self.roots.get(spot.root).is_none_or(|root| root.readable)
    }

    fn show(&self, spot: &Spot) -> String {
        let (name, skip) = match self.roots.get(spot.root) {
            Some(root) => (root.name, root.at.len()),
            None => ("", 0),
        };
        format!("{name}:{}", spot.path[skip..].join("/"))
    }
}

fn parts(text: &str) -> impl DoubleEndedIterator<Item = String> + '_ {
    let parts = text
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    parts.map(str::to_owned)
}

fn names_dir(text: &str) -> bool {
    matches!(text.rsplit('/').next(), Some("" | "." | ".."))
}
