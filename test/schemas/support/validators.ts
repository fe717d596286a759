import { fork, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  IPCMessageReader,
  IPCMessageWriter,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import type { Diagnostic } from "vscode-languageserver-types";
import type { TomlValidation } from "../../../vscode-client/build/toml-validation.ts";
import { until } from "../../support/until.ts";
import { LanguageServer } from "./language-server.ts";

/** Another project's tool that checks documents against schemas, running in one folder. */
export interface Validator extends AsyncDisposable {
  /** Returns its findings for a document with this name, relative to the folder. The file need not exist. */
  faultsIn(path: string, text: string): Promise<string[]>;
}

export interface TomlValidator extends Validator {
  /** Applies what an extension contributes, as the tool's own extension for VS Code does. */
  associate(contributed: readonly TomlValidation[]): Promise<void>;
}

/** The servers are installed by the setup of the suites that use them. */
const require = createRequire(new URL("../servers/package.json", import.meta.url));
const uriOf = (folder: string, path: string): string => pathToFileURL(join(folder, path)).href;
const messages = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ message }) => (typeof message === "string" ? message : message.value));

/** `yaml-language-server`, which is in Red Hat's YAML. */
export async function startYaml(folder: string): Promise<Validator> {
  const child = fork(
    join(require.resolve("yaml-language-server/package.json"), "../bin/yaml-language-server"),
    ["--node-ipc"],
    { execArgv: [], silent: true },
  );
  const server = await LanguageServer.start(
    child,
    { reader: new IPCMessageReader(child), writer: new IPCMessageWriter(child) },
    {
      folderUri: pathToFileURL(folder).href,
      settings: { validate: true, schemaStore: { enable: false } },
      capabilities: { workspace: { configuration: true } },
    },
  );
  // With new settings it checks open documents again, without naming the text: none is open yet.
  await until("the question for settings", () => server.hasAskedSettings);
  await server.connection.sendRequest("textDocument/foldingRange", {
    textDocument: { uri: uriOf(folder, "none.yaml") },
  });
  return {
    async faultsIn(path, text) {
      const document = { uri: uriOf(folder, path), languageId: "yaml", text };
      return messages(await server.diagnosticsOf(document, ({ length }) => length > 0));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Taplo's language server, which is in Even Better TOML. */
export async function startTaplo(folder: string): Promise<TomlValidator> {
  const child = fork(fileURLToPath(new URL("taplo-server.ts", import.meta.url)), {
    execArgv: [],
    silent: true,
  });
  const server = await LanguageServer.start(
    child,
    { reader: new IPCMessageReader(child), writer: new IPCMessageWriter(child) },
    {
      folderUri: pathToFileURL(folder).href,
      settings: { schema: { enabled: true, catalogs: [] } },
      capabilities: { workspace: { configuration: true } },
    },
  );
  return {
    async associate(contributed) {
      for (const { fileMatch, url } of contributed)
        await server.connection.sendNotification("taplo/associateSchema", {
          schemaUri: url,
          priority: 10,
          rule: { glob: `**/${fileMatch}` },
          meta: { source: "extension", extensionId: "lares.lares-vscode" },
        });
      // It handles messages concurrently: a document that follows at once could be handled first.
      await until("Taplo to list the schemas", async () => {
        const { schemas } = await server.connection.sendRequest<{ schemas: { url: string }[] }>(
          "taplo/listSchemas",
          { documentUri: uriOf(folder, "any.toml") },
        );
        return contributed.every((one) => schemas.some(({ url }) => url === one.url));
      });
    },
    async faultsIn(path, text) {
      const document = { uri: uriOf(folder, path), languageId: "toml", text };
      // It publishes after each of its three checks (syntax, tables, schema), and stops after one that found a fault.
      return messages(
        await server.diagnosticsOf(
          document,
          (published) => published.length === 3 || (published.at(-1)?.diagnostics.length ?? 0) > 0,
        ),
      );
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Tombi is one program per platform; only this platform's is installed. */
const tombi = fileURLToPath(
  new URL("../servers/node_modules/@tombi-toml/cli-linux-x64/tombi", import.meta.url),
);
export const hasTombi = existsSync(tombi);

export async function startTombi(folder: string): Promise<TomlValidator> {
  // Otherwise it asks a public catalogue first.
  await writeFile(join(folder, "tombi.toml"), "[schema]\ncatalog = { paths = [] }\n");
  const child = spawn(tombi, ["lsp"], {
    cwd: folder,
    env: { HOME: folder, XDG_CACHE_HOME: join(folder, ".cache") },
    stdio: "pipe",
  });
  const server = await LanguageServer.start(
    child,
    { reader: new StreamMessageReader(child.stdout), writer: new StreamMessageWriter(child.stdin) },
    {
      folderUri: pathToFileURL(folder).href,
      settings: null,
      capabilities: {},
    },
  );
  return {
    async associate(contributed) {
      for (const { fileMatch, url } of contributed)
        await server.connection.sendNotification("tombi/associateSchema", {
          uri: url,
          fileMatch: [fileMatch],
        });
    },
    async faultsIn(path, text) {
      const document = { uri: uriOf(folder, path), languageId: "toml", text };
      return messages(
        await server.diagnosticsOf(document, (published, version) => published.at(-1)?.version === version),
      );
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
