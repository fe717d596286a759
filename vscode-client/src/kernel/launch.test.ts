import { describe, expect, it } from "vitest";
import { kernelLaunch, type LaunchFacts } from "./launch.ts";

const bundledKernel = "/ext/kernel/lib/node_modules/lares/bin/lares.js";
const bundledNode = "/ext/kernel/node/bin/node";

function launchWith(files: readonly string[], given: Partial<LaunchFacts> = {}) {
  const facts: LaunchFacts = {
    kernelPath: "",
    nodePath: "",
    extensionPath: "/ext",
    checkoutPath: null,
    platform: "linux",
    own: { executable: "/editor", nodeVersion: "22.17.0" },
    environment: {},
    exists: (path) => files.includes(path),
    ...given,
  };
  return kernelLaunch(facts, ["serve", "--stdio"]);
}

describe("kernelLaunch", () => {
  const serve = ["serve", "--stdio"];

  it.each<[string, readonly string[], Partial<LaunchFacts>, string, readonly string[]]>([
    ["the packaged kernel and its Node", [bundledKernel, bundledNode], {}, bundledNode, [bundledKernel]],
    [
      "the packaged kernel on Windows",
      [bundledKernel, `${bundledNode}.exe`],
      { platform: "win32" },
      `${bundledNode}.exe`,
      [bundledKernel],
    ],
    [
      "the checkout's, where the extension runs from its sources",
      ["/repo/kernel/bin/lares.js", "/repo/node_modules/node/bin/node"],
      { checkoutPath: "/repo" },
      "/repo/node_modules/node/bin/node",
      ["/repo/kernel/bin/lares.js"],
    ],
    [
      "a kernel of the settings before the packaged one",
      [bundledKernel, bundledNode, "/mine/lares.js"],
      { kernelPath: "/mine/lares.js" },
      bundledNode,
      ["/mine/lares.js"],
    ],
    [
      "an executable of the settings, without a Node",
      ["/mine/lares"],
      { kernelPath: "/mine/lares" },
      "/mine/lares",
      [],
    ],
    [
      "a Node of the settings before the packaged one",
      [bundledKernel, bundledNode, "/mine/node"],
      { nodePath: "/mine/node" },
      "/mine/node",
      [bundledKernel],
    ],
  ])("starts %s", (_name, files, given, command, before) => {
    expect(launchWith(files, given)).toEqual({
      kind: "start",
      command,
      args: [...before, ...serve],
      env: {},
    });
  });

  it("runs the editor's own executable as Node if it is new enough and there is no other", () => {
    const own = { executable: "/editor", nodeVersion: "24.1.0", pid: 7 };
    expect(launchWith([bundledKernel], { own })).toEqual({
      kind: "start",
      command: "/editor",
      args: [bundledKernel, ...serve],
      env: { ELECTRON_RUN_AS_NODE: "1" },
    });
  });

  it("passes on the environment without the variables for the editor's own processes", () => {
    const environment = {
      PATH: "/bin",
      LARES_HOME: "/state",
      NODE_OPTIONS: "--inspect",
      ELECTRON_RUN_AS_NODE: "1",
      VSCODE_PID: "1",
      EMPTY: undefined,
    };
    expect(launchWith([bundledKernel, bundledNode], { environment })).toMatchObject({
      env: { PATH: "/bin", LARES_HOME: "/state" },
    });
  });

  it.each<[string, readonly string[], Partial<LaunchFacts>, string]>([
    ["there is no kernel", [bundledNode], {}, "no kernel in it"],
    ["there is no Node that is new enough", [bundledKernel], {}, "is 22.17.0"],
    ["the setting's kernel is not there", [bundledKernel], { kernelPath: "/gone/lares" }, '"/gone/lares"'],
    ["the setting's kernel is relative", ["lares"], { kernelPath: "lares" }, "must be an absolute path"],
    ["the setting's Node is not there", [bundledKernel], { nodePath: "/gone/node" }, '"/gone/node"'],
    ["the setting's Node is relative", [bundledKernel, "node"], { nodePath: "node" }, "absolute path"],
  ])("refuses where %s, and says so", (_name, files, given, part) => {
    expect(launchWith(files, given)).toMatchObject({
      kind: "refused",
      reason: expect.stringContaining(part),
    });
  });
});
