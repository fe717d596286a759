import { compilers, installNested, modelRuntime } from "../../kernel/build/nested-package.ts";

/** Installs what some of these tests need beside the checkout's own packages. */
export default function setup(): void {
  installNested(compilers);
  installNested(modelRuntime);
}
