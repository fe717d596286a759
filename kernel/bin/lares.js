#!/usr/bin/env node
// Old-syntax JavaScript on purpose: it must parse on a Node that is too old, to find a newer one or to say so.
"use strict";

var neededMajor = 24;

if (isNew(process.versions.node)) {
  require("./start.cjs");
} else {
  var newer = installedNode();
  if (newer === null) {
    var needed = "lares needs Node.js " + neededMajor + " or newer; this is " + process.version + ".";
    var remedy = "Get it from https://nodejs.org or run: npm install -g node@" + neededMajor;
    process.stderr.write(needed + " " + remedy + "\n");
    process.exit(1);
  }
  runWith(newer);
}

/**
 * Returns the path and the environment of a Node that is new enough and was installed with this package or with the
 * editor; or null.
 */
function installedNode() {
  var path = require("path");
  var beside =
    nodeAbove(__dirname) ||
    // The real file of a linked package lies elsewhere; the way to it leads through the project that has the Node.
    nodeAbove(path.dirname(path.resolve(process.argv[1] || __filename))) ||
    packagedNode();
  return beside === null ? editorsNode() : { path: beside, environment: process.env };
}

/** Returns npm's package `node` in the nearest `node_modules` that has a new one, or null. */
function nodeAbove(folder) {
  var path = require("path");
  for (;;) {
    var candidate = path.join(folder, "node_modules", "node");
    // An old one would look for another, and both could find each other for ever.
    if (isNew(versionOf(candidate))) {
      var executable = path.join(candidate, "bin", nodeName());
      if (require("fs").existsSync(executable)) return executable;
    }
    var parent = path.dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
}

/** Returns the Node of the editor's extension in which this file lies as kernel/lib/node_modules/lares/bin/lares.js. */
function packagedNode() {
  var path = require("path");
  var kernel = path.join(__dirname, "..", "..", "..", "..");
  var candidate = path.join(kernel, "node", "bin", nodeName());
  var isPackaged = path.join(kernel, "lib", "node_modules", "lares", "bin") === __dirname;
  return isPackaged && require("fs").existsSync(candidate) ? candidate : null;
}

/** Returns the editor in whose terminal this runs, where its own Node is new enough; or null. */
function editorsNode() {
  // VS Code sets it in terminals, for git to ask for passwords with. Electron is a Node where its environment says so.
  var editor = process.env.VSCODE_GIT_ASKPASS_NODE;
  if (!editor || !require("path").isAbsolute(editor)) return null;
  var environment = {};
  for (var name in process.env) environment[name] = process.env[name];
  environment.ELECTRON_RUN_AS_NODE = "1";
  var asked = require("child_process").spawnSync(editor, ["-p", "process.versions.node"], {
    env: environment,
    encoding: "utf8",
    timeout: 5000,
    windowsHide: true,
  });
  return asked.status === 0 && isNew(asked.stdout) ? { path: editor, environment: environment } : null;
}

function nodeName() {
  return process.platform === "win32" ? "node.exe" : "node";
}

function versionOf(folder) {
  try {
    var text = require("fs").readFileSync(require("path").join(folder, "package.json"), "utf8");
    return String(JSON.parse(text).version);
  } catch (error) {
    // Not installed, not readable, or not npm's package: then it is none.
    if (error.code === undefined && !(error instanceof SyntaxError)) throw error;
    return "";
  }
}

function isNew(version) {
  return parseInt(version, 10) >= neededMajor;
}

/** Runs this file with another Node, and ends as that process ends. */
function runWith(node) {
  var args = [__filename].concat(process.argv.slice(2));
  var child = require("child_process").spawn(node.path, args, { stdio: "inherit", env: node.environment });
  // A terminal sends Ctrl-C to both processes, whichever of the three streams it is; the child decides what it means.
  var isAtTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  var signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  signals.forEach(function (signal) {
    process.on(signal, function () {
      if (signal !== "SIGINT" || !isAtTerminal) child.kill(signal);
    });
  });
  child.on("error", function (error) {
    process.stderr.write("lares: " + node.path + " could not be started: " + error.message + "\n");
    process.exit(1);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
