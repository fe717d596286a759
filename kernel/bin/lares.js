#!/usr/bin/env node
// Old-syntax JavaScript on purpose: it must parse on a Node that is too old, to be able to say so.
"use strict";

var neededMajor = 24;
var major = parseInt(process.versions.node.split(".")[0], 10);

if (major < neededMajor) {
  process.stderr.write(
    "lares needs Node.js " +
      neededMajor +
      " or newer; this is " +
      process.version +
      ". Get it from https://nodejs.org or run: npm install -g node@" +
      neededMajor +
      "\n",
  );
  process.exit(1);
} else {
  require("./start.cjs");
}
