//! The reports of nights made by hand, read again by other programs than those that wrote them.

mod browser;
mod chromium;
mod files;
mod html;
mod junit;
mod nights;
mod sarif;
