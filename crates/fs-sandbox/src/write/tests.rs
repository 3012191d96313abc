mod ends;
mod files;
mod text;
mod together;
mod versions;
