// Runs the sources in a checkout, and what was built from them in an installed package.
"use strict";

const { existsSync, mkdirSync } = require("node:fs");
const { enableCompileCache } = require("node:module");
const { homedir } = require("node:os");
const { join, sep } = require("node:path");
const { pathToFileURL } = require("node:url");

const sources = join(__dirname, "..", "src", "main.ts");
// Node refuses to strip types below node_modules.
const isCheckout = !__dirname.split(sep).includes("node_modules") && existsSync(sources);

// Compiled code is kept between starts, in a folder that only this user can write: what lies there is run.
// Without it a start from sources takes more than twice as long, for the types are stripped anew.
const cache = isCheckout
  ? join(__dirname, "..", "..", "node_modules", ".cache", "lares")
  : join(
      process.env.LARES_HOME || process.env.XDG_CACHE_HOME || join(homedir(), ".cache"),
      "lares",
      "compiled",
    );
try {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  enableCompileCache(cache);
} catch (error) {
  // A home that is read-only or full costs time at every start and nothing else.
  if (typeof error.syscall !== "string") throw error;
}

import(pathToFileURL(isCheckout ? sources : join(__dirname, "..", "dist", "main.js")).href).catch((error) => {
  process.stderr.write(`lares: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  process.exitCode = 1;
});
