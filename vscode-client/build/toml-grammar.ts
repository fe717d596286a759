import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where `package.json` names the grammar. */
export const grammarPath = "dist/grammars/toml.json";

/** The package that publishes the grammar, unchanged, from TextMate's own bundle for TOML. */
export const grammarPackage = "tm-grammars";

/** The licence of https://github.com/textmate/toml.tmbundle, which its README states and the package does not bring. */
export const grammarLicence = `textmate/toml.tmbundle (the grammar in dist/grammars/toml.json)

Permission to copy, use, modify, sell and distribute this software is granted. This software is provided "as is"
without express or implied warranty, and with no claim as to its suitability for any purpose.
`;

/** Copies the grammar that gives TOML documents their colours where no other extension does. */
export function copyTomlGrammar(client: string): void {
  mkdirSync(join(client, "dist", "grammars"), { recursive: true });
  cpSync(
    fileURLToPath(import.meta.resolve(`${grammarPackage}/grammars/toml.json`)),
    join(client, grammarPath),
  );
}
