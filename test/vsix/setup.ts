import type { TestProject } from "vitest/node";
import { installNested, schemaServers } from "../../kernel/build/nested-package.ts";
import { makeVsix } from "../support/vsix.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly vsix: string;
  }
}

/** Packages once for all suites. */
export default function setup(project: TestProject): void {
  installNested(schemaServers);
  project.provide("vsix", makeVsix());
}
