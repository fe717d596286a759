import type { ListedPackage } from "../packages/answers.ts";
import { packagesView } from "../packages/packages-view.ts";
import type { FakeContext } from "./context.ts";

/** What the package commands of `lares` print, with what a test cares about put in. */

export const digest = "a".repeat(64);

export function offer(given: object = {}): object {
  return {
    id: "com.example.greeter",
    version: "1.0.0",
    name: "Greeter",
    description: "Says hello",
    license: "MIT",
    publisher: "key",
    fingerprint: "SHA256:abcdefghijkl",
    pinned: null,
    installed: null,
    size: 2048,
    files: 3,
    sha256: digest,
    requests: ["see and read files (read_entries)"],
    hosts: [],
    more: [],
    source: "/packages/greeter.lares",
    ...given,
  };
}

export function listed(given: object = {}): object {
  return {
    id: "com.example.greeter",
    name: "Greeter",
    version: "1.0.0",
    folder: "/config/lares/extensions/com.example.greeter",
    scope: "user",
    inUse: true,
    fingerprint: "SHA256:abcdefghijkl",
    source: "/packages/greeter.lares",
    index: null,
    installed: "2026-01-01T12:00:00.000Z",
    fault: null,
    changed: [],
    missing: [],
    added: [],
    ...given,
  };
}

interface FakePackages {
  /** The commands that were run, without `--json`. */
  readonly ran: string[];
  /** Answers by the first word of a command, and `--dry-run` where it has it; an `Error` is thrown. */
  readonly answers: Record<string, unknown>;
  /** How often something ran while no kernel did. */
  pauses: number;
}

/** Creates the view with a command line whose answers a test gives. */
export function fakePackages(fake: FakeContext, answers: Record<string, unknown> = {}): FakePackages {
  const packages: FakePackages = { ran: [], answers: { list: { items: [] }, ...answers }, pauses: 0 };
  packagesView({
    run: async (words) => {
      packages.ran.push(words.filter((word) => word !== "--json").join(" "));
      const answer =
        packages.answers[words.includes("--dry-run") ? `${words[0]} --dry-run` : (words[0] ?? "")];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    withoutKernel: async (run) => {
      packages.pauses++;
      await run();
    },
  })(fake.context);
  return packages;
}

/** As `fakePackages`, where every text of a package and of an index is a stranger's. */
export function hostilePackages(fake: FakeContext, evil: string): FakePackages {
  const id = evil.slice(0, 128);
  const texts = { id, name: evil, version: evil, description: evil, fingerprint: evil };
  const hostile = offer({
    ...texts,
    license: evil,
    pinned: { publisher: evil, fingerprint: evil, since: evil },
    installed: evil,
    requests: [evil],
    hosts: [evil],
    more: [evil],
    source: evil,
  });
  const memories = [{ folder: evil, isHere: true }];
  const changed = { file: evil, isNew: true };
  const update = { id, scope: "user", from: evil, to: evil, error: evil };
  return fakePackages(fake, {
    list: { items: [hostileListed(evil)] },
    search: { items: [{ ...texts, size: 1, permissions: [evil] }] },
    "install --dry-run": { offer: hostile, document: changed },
    install: new Error(evil),
    "update --dry-run": { items: [{ ...update, state: "available", offer: hostile }] },
    update: { items: [{ ...update, state: "failed" }] },
    "remove --dry-run": { id, folder: evil, document: changed, memories },
    remove: new Error(evil),
  });
}

export function hostileListed(evil: string): ListedPackage {
  const item = listed({
    id: evil.slice(0, 128),
    name: evil,
    version: evil,
    folder: evil,
    fingerprint: evil,
    source: evil,
    fault: evil,
    changed: [evil],
    missing: [evil],
    added: [evil],
  });
  return { ...(item as ListedPackage), root: "/w" };
}
