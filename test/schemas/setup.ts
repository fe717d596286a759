import { installNested, schemaServers } from "../../kernel/build/nested-package.ts";

/** Installs the language servers of other projects. */
export default function setup(): void {
  installNested(schemaServers);
}
