import { createHash } from "node:crypto";
import { chmod, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Environment, stateFolderOf, stateHome, userConfigFolder } from "./state-folder.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

describe("where state and configuration lie", () => {
  function check(
    platform: NodeJS.Platform,
    environment: Environment,
    expected: { state: string; config: string },
  ): void {
    test(`${platform} ${JSON.stringify(environment)}`, () => {
      expect(stateHome(environment, platform)).toBe(expected.state);
      expect(userConfigFolder(environment, platform)).toBe(expected.config);
    });
  }
  const HOME = "/home/ana";
  check("linux", { HOME }, { state: "/home/ana/.local/state/lares", config: "/home/ana/.config/lares" });
  check(
    "linux",
    { HOME, XDG_STATE_HOME: "/s", XDG_CONFIG_HOME: "/c" },
    { state: "/s/lares", config: "/c/lares" },
  );
  check(
    "linux",
    { HOME, XDG_STATE_HOME: "relative" },
    { state: "/home/ana/.local/state/lares", config: "/home/ana/.config/lares" },
  );
  check("linux", { HOME, LARES_HOME: "/own" }, { state: "/own", config: "/home/ana/.config/lares" });
  check(
    "darwin",
    { HOME },
    { state: "/home/ana/Library/Application Support/lares", config: "/home/ana/Library/Preferences/lares" },
  );
  check(
    "win32",
    { HOME, LOCALAPPDATA: "/local", APPDATA: "/roaming" },
    { state: "/local/lares", config: "/roaming/lares" },
  );

  test("a relative LARES_HOME is refused", () => {
    expect(() => stateHome({ LARES_HOME: "here" })).toThrow(
      /LARES_HOME is "here"; it must be an absolute path/,
    );
  });
});

describe("the state folder of a workspace", () => {
  async function prepared(): Promise<{ workspace: string; environment: Environment; home: string }> {
    const folder = await temporaryFolder();
    const workspace = join(folder, "My Photos");
    await mkdir(workspace);
    const home = join(folder, "home");
    return { workspace, home, environment: { LARES_HOME: home } };
  }

  test("is named after the folder and its real path, made for the owner alone, and found again through a link", async () => {
    const { workspace, environment, home } = await prepared();
    const found = await stateFolderOf([workspace], environment);
    const digest = createHash("sha256").update(workspace).digest("hex").slice(0, 12);
    expect(found).toBe(join(home, "workspaces", `My-Photos-${digest}`));
    for (const folder of [home, join(home, "workspaces"), found])
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await symlink(workspace, `${workspace} link`);
    expect(await stateFolderOf([`${workspace} link`], environment)).toBe(found);
  });

  test("of several roots does not depend on their order", async () => {
    const { workspace, environment, home } = await prepared();
    expect(await stateFolderOf([workspace, join(home, "..")], environment)).toBe(
      await stateFolderOf([join(home, ".."), workspace], environment),
    );
  });

  test("that others can write is refused, with the command that fixes it", async () => {
    const { workspace, environment } = await prepared();
    const found = await stateFolderOf([workspace], environment);
    await chmod(found, 0o770);
    await expect(stateFolderOf([workspace], environment)).rejects.toMatchObject({
      code: "StorageError",
      message: expect.stringContaining(`chmod 700 "${found}"`),
    });
  });

  test("whose place is taken by a file is refused", async () => {
    const { workspace, environment, home } = await prepared();
    await writeFile(home, "");
    await expect(stateFolderOf([workspace], environment)).rejects.toMatchObject({ code: "StorageError" });
  });

  test("of a workspace that does not exist is refused, naming it", async () => {
    const { workspace, environment } = await prepared();
    await expect(stateFolderOf([join(workspace, "none")], environment)).rejects.toThrow(
      /My Photos\/none" cannot be opened/,
    );
  });
});
