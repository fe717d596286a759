// The least that answers `initialize` over stdio with vscode-jsonrpc: what a start is held against.
"use strict";

const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-jsonrpc/node");

const connection = createMessageConnection(
  new StreamMessageReader(process.stdin),
  new StreamMessageWriter(process.stdout),
);
connection.onRequest("initialize", () => ({
  capabilities: { textDocumentSync: 1 },
  serverInfo: { name: "bare" },
}));
connection.listen();
process.stdin.on("end", () => process.exit());
