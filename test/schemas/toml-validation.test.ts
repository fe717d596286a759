import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tomlValidation } from "../../vscode-client/build/toml-validation.ts";
import { expectOnlyOurs } from "./support/contributed.ts";
import { ServedFolder } from "./support/served.ts";
import { hasTombi, startTaplo, startTombi } from "./support/validators.ts";

const schemas = fileURLToPath(new URL("../../schemas", import.meta.url));
let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "lares-toml-")));
});
afterEach(() => rm(folder, { recursive: true }));

for (const { tool, start, isHere } of [
  { tool: "Even Better TOML's server", start: startTaplo, isHere: true },
  { tool: "Tombi", start: startTombi, isHere: hasTombi },
])
  test.skipIf(!isHere)(
    `${tool} holds documents of our names, in any folder, against what is served, and no others`,
    async () => {
      await using served = await ServedFolder.start(schemas);
      await using validator = await start(folder);
      await expectOnlyOurs(validator, tomlValidation(served.url));
      expect([...new Set(served.requested)].toSorted()).toEqual([
        "/lares@1/schemas/extension.schema.json",
        "/lares@1/schemas/lares.schema.json",
      ]);
    },
  );
