//! tool-server
