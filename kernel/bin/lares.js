#!/usr/bin/env node
// Old-syntax JavaScript on purpose: it must parse on a Node that is too old, to find a newer one or to say so.
"use strict";

var neededMajor = 24;

if (parseInt(process.versions.node.split(".")[0], 10) >= neededMajor) {
  require("./start.cjs");
} else {
  var newer = installedNode();
  if (newer === null) {
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
  }
  runWith(newer);
}

/** Returns the path of the Node that npm installed beside this package, or null. */
function installedNode() {
  var fs = require("fs");
  var path = require("path");
  var name = process.platform === "win32" ? "node.exe" : "node";
  var folder = __dirname;
  for (;;) {
    var candidate = path.join(folder, "node_modules", "node", "bin", name);
    // The Node that runs this is too old, whatever the way to it was.
    if (fs.existsSync(candidate) && fs.realpathSync(candidate) !== fs.realpathSync(process.execPath)) {
      return candidate;
    }
    var parent = path.dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

/** Runs this file with another Node, and ends as that process ends. */
function runWith(node) {
  var args = [__filename].concat(process.argv.slice(2));
  var child = require("child_process").spawn(node, args, { stdio: "inherit" });
  var signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  signals.forEach(function (signal) {
    process.on(signal, function () {
      // A terminal sends Ctrl-C to both processes; the child decides what it means.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  });
  child.on("error", function (error) {
    process.stderr.write("lares: " + node + " could not be started: " + error.message + "\n");
    process.exit(1);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
