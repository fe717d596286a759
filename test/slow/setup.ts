import {
  compilers,
  installNested,
  languageModelRuntime,
  modelRuntime,
} from "../../kernel/build/nested-package.ts";

/** Installs packages that some of these tests need in addition to the checkout's own. */
export default function setup(): void {
  installNested(compilers);
  installNested(modelRuntime);
  installNested(languageModelRuntime);
}
