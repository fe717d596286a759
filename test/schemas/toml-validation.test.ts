import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import { tomlValidation } from "../../vscode-client/build/toml-validation.ts";
import { expectOnlyOurs } from "./support/contributed.ts";
import { ServedFolder } from "./support/served.ts";
import { hasTombi, startTaplo, startTombi } from "./support/validators.ts";

const schemas = fileURLToPath(new URL("../../schemas", import.meta.url));
for (const { tool, start, isHere } of [
  { tool: "Even Better TOML's server", start: startTaplo, isHere: true },
  { tool: "Tombi", start: startTombi, isHere: hasTombi },
])
  test.skipIf(!isHere)(
    `${tool} holds documents of our names, in any folder, against what is served, and no others`,
    async () => {
      await using folder = await TemporaryFolder.create("lares-toml-");
      await using served = await ServedFolder.start(schemas);
      await using validator = await start(folder.path);
      await expectOnlyOurs(validator, tomlValidation(served.url));
      expect([...new Set(served.requested)].toSorted()).toEqual([
        "/lares@1/schemas/extension.schema.json",
        "/lares@1/schemas/lares.schema.json",
      ]);
    },
  );
