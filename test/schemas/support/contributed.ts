import { expect } from "vitest";
import type { TomlValidation } from "../../../vscode-client/build/toml-validation.ts";
import { until } from "../../support/until.ts";
import type { TomlValidator } from "./validators.ts";

const LARES = 'version = 1\nextensions = [{ id = "dev.lares.notes" }]\n';
const EXTENSION = '[extension]\nid = "dev.example.one"\nname = "One"\nversion = "1.0.0"\n';
const FAULT = "not_a_field = 1\n";

/** Compares what an extension contributes with a tool's findings in documents with these names and with others. */
export async function expectOnlyOurs(
  tool: TomlValidator,
  contributed: readonly TomlValidation[],
): Promise<void> {
  await tool.associate(contributed);
  for (const path of [
    "lares.toml",
    "a folder/lares.toml",
    "extension.toml",
    ".lares/extensions/one/extension.toml",
  ]) {
    const text = path.endsWith("lares.toml") ? LARES : EXTENSION;
    // There is no notification when a tool has applied its settings.
    const faults = await until(`the fault in ${path}`, async () => {
      const found = await tool.faultsIn(path, FAULT + text);
      return found.length > 0 && found;
    });
    expect(faults.join("\n")).toContain("not_a_field");
    expect(await tool.faultsIn(path, text), path).toEqual([]);
  }
  for (const path of [
    "pyproject.toml",
    "my-lares.toml",
    "my.extension.toml",
    "lares.toml.toml",
    "lares.toml/other.toml",
    "extension.toml/Cargo.toml",
    "extensions.toml",
  ])
    expect(await tool.faultsIn(path, FAULT + LARES), path).toEqual([]);
}
