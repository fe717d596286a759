import { ModuleRefusal } from "./binary.ts";
import type { ModuleOutline } from "./module-reader.ts";
import { shown } from "./module-reader.ts";
import { signatureText, treatmentOf, wasiModule } from "./preview1.ts";

/** A function that is added to the module: its behaviour and its type. */
export type AddedFunction =
  /** Returns an errno. */
  | { readonly kind: "refuse"; readonly type: number; readonly errno: number }
  /** Calls an import if the first argument is one of the guest's descriptors; otherwise returns EBADF. */
  | { readonly kind: "guard"; readonly type: number; readonly target: number; readonly parameters: number };

interface ImportPlan {
  /** The imports that the module keeps, in order. */
  readonly kept: readonly { readonly name: string; readonly type: number }[];
  /** For each original import: the new target of calls to it. */
  readonly routes: readonly ({ readonly kept: number } | { readonly added: number })[];
  readonly added: readonly AddedFunction[];
}

/** Decides what happens to each import. Throws ModuleRefusal for an import that agents may not have. */
export function planImports(outline: ModuleOutline): ImportPlan {
  const kept: { name: string; type: number }[] = [];
  const routes: ({ kept: number } | { added: number })[] = [];
  const added: AddedFunction[] = [];
  for (const { module, name, type } of outline.imports) {
    if (module !== wasiModule) {
      throw new ModuleRefusal(
        "import",
        `The module imports "${shown(name)}" from "${shown(module)}"; an agent may import only from ${wasiModule}.`,
      );
    }
    const treatment = treatmentOf(name);
    if (treatment.kind === "unknown") {
      throw new ModuleRefusal(
        "import",
        `The module imports "${shown(name)}", which is not a function of ${wasiModule}.`,
      );
    }
    const found = outline.types[type] ?? "";
    if (found !== treatment.signature) {
      throw new ModuleRefusal(
        "import",
        `The module imports ${name} as ${signatureText(found)}; in ${wasiModule} it is ${signatureText(treatment.signature)}.`,
      );
    }
    if (treatment.kind === "refusing") {
      routes.push({ added: added.length });
      added.push({ kind: "refuse", type, errno: treatment.errno });
      continue;
    }
    const target = kept.length;
    kept.push({ name, type });
    if (treatment.kind === "kept") {
      routes.push({ kept: target });
    } else {
      routes.push({ added: added.length });
      added.push({ kind: "guard", type, target, parameters: found.indexOf(":") });
    }
  }
  return { kept, routes, added };
}
