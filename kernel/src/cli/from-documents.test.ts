import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { checkLares } from "../documents/lares.ts";
import { layerOf, resolveConfiguration } from "../documents/resolve.ts";
import { explainedOf, findingOf } from "./from-documents.ts";
import { renderExplained } from "./commands/check.ts";
import { plainSurface } from "./render/style.ts";

const defaultsFile = new URL("../../../manifests/defaults.yaml", import.meta.url);

const layer = async (file: string, text: string, source: "workspace" | "defaults") =>
  layerOf(file, await checkLares(text, file, { layer: source }));

it("a finding counts lines and columns from 1", () => {
  const range = { start: { line: 2, character: 4 }, end: { line: 2, character: 9 } };
  expect(findingOf("a.yaml", { severity: "error", code: "unknown-field", message: "No.", range })).toEqual({
    file: "a.yaml",
    line: 3,
    column: 5,
    severity: "error",
    code: "unknown-field",
    message: "No.",
  });
});

it("explains every value with the document and line, or the variable, it came from", async () => {
  const resolved = await resolveConfiguration({
    environment: { LARES_TRACE_LEVEL: "debug" },
    workspace: await layer(
      "lares.yaml",
      "version: 1\nextensions:\n  - id: dev.lares.storage\napprovals:\n  auto_approve_below: 0.2\n",
      "workspace",
    ),
    user: null,
    defaults: await layer("defaults.yaml", await readFile(defaultsFile, "utf8"), "defaults"),
  });
  const lines = renderExplained(explainedOf(resolved), plainSurface);
  const lineOf = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.replace(/ {2,}/g, "  ");
  expect(lineOf("approvals.auto_approve_below")).toBe(
    "approvals.auto_approve_below  0.2  workspace lares.yaml:5",
  );
  expect(lineOf("extensions[0]")).toBe('extensions[0]  {"id":"dev.lares.storage"}  workspace lares.yaml:3');
  expect(lineOf("kernel.linger")).toMatch(/^kernel\.linger {2}"10s" {2}defaults defaults\.yaml:\d+$/);
  expect(lineOf("trace.level")).toBe('trace.level  "debug"  environment LARES_TRACE_LEVEL');
});
