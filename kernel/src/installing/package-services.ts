import { realpath } from "node:fs/promises";
import { join } from "node:path";
import compareVersions from "semver/functions/compare.js";
import { isoTime } from "../base/clock.ts";
import { isLaresError, LaresError, notFound, storageError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { visibleText } from "../base/visible-text.ts";
import type {
  FoundExtension,
  InstalledExtension,
  OpenedPackage,
  OpenOptions,
  PackageOffer,
  PackageServices,
  PackedExtension,
} from "../services/packages.ts";
import { runsModel } from "../services/packages.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { ObservedFiles } from "../configuration/observed-files.ts";
import { eventPorts } from "../configuration/event-ports.ts";
import { modelWords } from "../decisions/model-words.ts";
import { describePermissions } from "../decisions/describe-permission.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { changesOf, installedPublisher, packagesIn, readInstalled } from "../packages/files/installed.ts";
import {
  hasLeftovers,
  recoverPlace,
  removePackage,
  stagePackage,
  type Place,
} from "../packages/files/place.ts";
import { refusedPackage } from "../packages/package-error.ts";
import { checkAgainstIndex, matching, type IndexEntry } from "../packages/package-index.ts";
import { readPackage, type VerifiedPackage } from "../packages/package-file.ts";
import { fingerprintOf } from "../packages/package-record.ts";
import { defaultKeyName, PublisherKeys } from "../packages/publisher-keys.ts";
import { systemClock } from "../platform/clock.ts";
import {
  makePrivateFolder,
  stateHome,
  userConfigFolder,
  type Environment,
} from "../platform/files/state-folder.ts";
import { acquireLock, type FileLock } from "../platform/processes/lock.ts";
import { readKey, readOrMakeKey } from "../secrets/key.ts";
import { packageRows, type PublisherRow } from "../user-state/package-rows.ts";
import { secretRows } from "../user-state/secret-rows.ts";
import { UserState } from "../user-state/user-state.ts";
import { manifestOf } from "./manifest-in-package.ts";
import { type PackPorts, packExtension } from "./pack-extension.ts";
import { createDownloads } from "./downloads.ts";
import { extensionInUse, extensionsInUse } from "./extension-in-use.ts";
import { findPackage } from "./find-package.ts";
import { newestOf, openIndex } from "./indexes.ts";
import { wideningOf } from "./widening.ts";

interface PackageServiceOptions {
  readonly environment: Environment;
  readonly kernelVersion: string;
  documentsOf(folder: string): WorkspaceDocuments;
  readonly opened: AsyncDisposableStack;
  /** Returns why the program of the extension in a folder cannot run; null if it can. */
  programFault(folder: string): Promise<string | null>;
  readonly bundle: PackPorts["bundle"];
  /** The memories of extensions, which the kernel's rooms keep. */
  readonly memories: Pick<PackageServices, "memoriesOf" | "forget">;
}

/** Creates the services for the package commands. Nothing is read or created before its first use. */
export function openPackageServices(options: PackageServiceOptions): PackageServices {
  const { environment, kernelVersion, documentsOf, opened, programFault, bundle } = options;
  const home = stateHome(environment);
  const userFolder = userConfigFolder(environment);
  const state = opened.use(new UserState({ stateHome: home, log: silentLog }));
  const rows = packageRows(state);
  const keys = publisherKeys(state, join(userFolder, "secrets.key"));
  const checks = { kernelVersion, events: eventPorts(systemClock) };
  const download = createDownloads({
    environment,
    opened,
    // Settings of the network count in the person's own document only.
    configuration: async () => {
      const documents = documentsOf(userFolder);
      const files = new ObservedFiles();
      return (await documents.resolve(files, documents.createFinder(files), [])).own.value;
    },
  });
  const userPlace: Place = { folder: join(userFolder, "extensions") };
  const placeIn = (workspace: string): Place => ({
    folder: join(workspace, ".lares", "extensions"),
    within: workspace,
  });
  const pack = async (folder: string, key?: string) => {
    const documents = documentsOf(folder);
    return packExtension(folder, await keys.pair(key), { documents, programFault, bundle, ...checks });
  };

  const opensPackage = async (
    verified: VerifiedPackage,
    source: string,
    { workspace }: OpenOptions,
  ): Promise<OpenedPackage> => {
    const manifest = await manifestOf(verified, checks);
    const place = workspace === undefined ? userPlace : placeIn(workspace);
    const folder = join(place.folder, verified.record.id);
    const before = await installedIn(folder);
    const pinned = await pinOf(verified.record.id);
    const offer: PackageOffer = {
      ...offerOf(verified, manifest, source),
      pinned:
        pinned === null
          ? null
          : {
              publisher: pinned.public_key,
              fingerprint: fingerprintOf(pinned.public_key),
              since: pinned.since,
            },
      installed: before?.version ?? null,
      isOlder: before !== null && compareVersions(verified.record.version, before.version, true) < 0,
      more: before === null ? [] : wideningOf(manifest, before.manifest),
    };
    return {
      offer,
      install: async ({ replacesPublisher, allowsOlder, signal }) => {
        await using _lock = await installLock(home);
        // Another command may have installed it meanwhile.
        const now = await pinOf(offer.id);
        if (now !== null && now.public_key !== offer.publisher && !replacesPublisher)
          throw otherPublisher(offer, fingerprintOf(now.public_key));
        const there = await installedIn(folder);
        if (there !== null && compareVersions(offer.version, there.version, true) < 0 && !allowsOlder)
          throw olderVersion(offer, there.version);
        await using staged = await stagePackage(place, verified, signal);
        signal.throwIfAborted();
        const target = await staged.activate();
        await rows.addPackage(
          {
            folder: target,
            extension: offer.id,
            version: offer.version,
            public_key: offer.publisher,
            source,
            installed: isoTime(systemClock.now()),
          },
          replacesPublisher,
        );
        return target;
      },
    };
  };

  /**
   * Returns the pinned publisher of an extension. Falls back to the record of the installed package, because the state may have been
   * lost, or a command may have died before it stored the pin.
   */
  const pinOf = async (id: string): Promise<Pick<PublisherRow, "public_key" | "since"> | null> =>
    (await rows.publisherOf(id)) ?? (await installedPublisher(join(userPlace.folder, id)));

  /** The extension in a folder, as this person installed it, or else as its record says. */
  const installedIn = async (
    folder: string,
  ): Promise<{ readonly version: string; readonly manifest: ResolvedManifest | null } | null> => {
    const found = await readInstalled(folder);
    if (found === null) return null;
    const row = (await rows.packages()).find((each) => each.folder === folder);
    const version = row?.version ?? found.record?.version;
    if (version === undefined) return null;
    return { version, manifest: await manifestIn(folder) };
  };

  const manifestIn = async (folder: string): Promise<ResolvedManifest | null> =>
    (await documentsOf(folder).createFinder().byPath(folder, join(folder, "lares.yaml")))?.checked.value ??
    null;
  const nameIn = async (folder: string): Promise<string> =>
    visibleText((await manifestIn(folder))?.name.slice(0, maxTextCharacters) ?? "");

  return {
    keys: {
      list: () => keys.list(),
      create: (name) => keys.create(name),
      named: (name) => keys.named(name),
    },
    pack: async (folder, key) => packedOf(await pack(folder, key)),
    open: async (reference, open) => {
      const { bytes, source, entry } = await findPackage(reference, open, {
        environment,
        download,
        packFolder: async (folder) => {
          if ((await keys.list()).length === 0) await keys.create(defaultKeyName);
          return (await pack(folder)).bytes;
        },
      });
      open.signal.throwIfAborted();
      const verified = readPackage(bytes);
      if (entry !== undefined) checkAgainstIndex(verified, entry);
      return await opensPackage(verified, source, open);
    },
    search: async (words, { from, signal }) => {
      const index = await openIndex(from, { download, signal });
      const found = matching(index.entries, words);
      const ids = [...new Set(found.map(({ id }) => id))];
      return {
        items: ids.map((id) => foundOf(newestOf({ ...index, entries: found }, id))),
        unusable: index.unusable,
      };
    },
    folderInUse: (workspace, id) => extensionInUse(documentsOf(workspace), id),
    list: async (workspace) => {
      // An update that died may have moved an extension away. Another command that is at work does it itself.
      if (await hasLeftovers(userPlace.folder)) await recovered(home, userPlace.folder);
      const known = await rows.packages();
      const used = await extensionsInUse(documentsOf(workspace));
      const listed: InstalledExtension[] = [];
      for (const [scope, { folder }] of [
        ["user", userPlace],
        ["workspace", placeIn(workspace)],
      ] as const)
        for (const installed of await packagesIn(folder)) {
          const { record, fault = null } = installed;
          const row = known.find((each) => each.folder === installed.folder);
          const changes =
            record === null
              ? { changed: [], missing: [], added: [] }
              : await changesOf(installed.folder, record);
          listed.push({
            id: record?.id ?? row?.extension ?? "",
            name: await nameIn(installed.folder),
            version: record?.version ?? row?.version ?? "",
            folder: installed.folder,
            scope,
            inUse: used.has(installed.folder),
            fingerprint: record === null ? "" : fingerprintOf(record.publisher),
            ...originOf(row?.source),
            installed: row?.installed ?? null,
            fault:
              record !== null && row !== undefined && record.publisher !== row.public_key
                ? "It is signed by another publisher than the package that was installed."
                : fault,
            ...changes,
          });
        }
      return listed;
    },
    remove: async ({ id, scope }, workspace) => {
      await using _lock = await installLock(home);
      const place = scope === "user" ? userPlace : placeIn(workspace);
      if (!(await removePackage(place, id))) throw notFound("package", id);
      await rows.removePackage(join(place.folder, id));
    },
    ...options.memories,
  };
}

function otherPublisher(offer: Pick<PackageOffer, "id" | "fingerprint">, pinned: string): LaresError {
  return refusedPackage(
    "publisher",
    `${offer.id} is signed by another publisher than the one you installed it from. Before: ${pinned}. Now: ${offer.fingerprint}. Ask the publisher whether the key has changed; if so, run lares install with --accept-new-publisher.`,
  );
}

function olderVersion({ id, version }: Pick<PackageOffer, "id" | "version">, installed: string): LaresError {
  return refusedPackage(
    "older",
    `${id} ${version} is older than the installed ${installed}. To go back on purpose, run lares install with --downgrade.`,
  );
}

/** Only one command changes installed packages at a time. Busy if another one does. */
async function installLock(home: string): Promise<FileLock> {
  await makePrivateFolder(home);
  const lock = await acquireLock(join(await realpath(home), "packages.lock"));
  if (!("heldBy" in lock)) return lock;
  throw new LaresError(
    "Busy",
    `Another command (process ${lock.heldBy}) is installing or removing an extension. Wait until it has ended.`,
  );
}

async function recovered(home: string, folder: string): Promise<void> {
  try {
    await using _lock = await installLock(home);
    await recoverPlace(folder);
  } catch (error) {
    if (!isLaresError(error, "Busy")) throw error;
  }
}

function publisherKeys(state: UserState, keyPath: string): PublisherKeys {
  const rows = packageRows(state);
  return new PublisherKeys({
    rows,
    clock: systemClock,
    encryptionKey: async (mayMake) => {
      const found = await readKey(keyPath);
      if (found !== null) return found;
      const isEmpty = (await rows.keys()).length === 0 && (await secretRows(state).list()).length === 0;
      if (mayMake && isEmpty) return readOrMakeKey(keyPath);
      throw storageError(
        `The key file "${keyPath}" is missing, so private keys cannot be read. Restore it from a backup. Nothing was changed.`,
      );
    },
  });
}

function packedOf(packed: Awaited<ReturnType<typeof packExtension>>): PackedExtension {
  const { record, files, bytes, name, sha256 } = packed;
  return {
    id: record.id,
    version: record.version,
    name,
    bytes,
    sha256,
    files: [...files].map(([path, content]) => ({ path, bytes: content.length })),
    publisher: record.publisher,
    fingerprint: fingerprintOf(record.publisher),
  };
}

/** How a source is stored for an extension that was found in an index: it is looked up there again. */
const indexMark = "index:";

function originOf(source: string | undefined): Pick<InstalledExtension, "source" | "index"> {
  if (source?.startsWith(indexMark) === true) return { source, index: source.slice(indexMark.length) };
  return { source: source ?? null, index: null };
}

function foundOf({
  id,
  version,
  name,
  description,
  size,
  publisher,
  permissions,
}: IndexEntry): FoundExtension {
  return {
    id,
    version,
    name: visibleText(name),
    description: visibleText(description),
    size,
    fingerprint: fingerprintOf(publisher),
    permissions: permissions.map((permission) => visibleText(permission)),
  };
}

const maxTextCharacters = 1_000;

function offerOf(
  { record, files, size, sha256 }: VerifiedPackage,
  manifest: ResolvedManifest,
  source: string,
): Omit<PackageOffer, "pinned" | "installed" | "isOlder" | "more"> {
  const text = (value: string): string => visibleText(value.slice(0, maxTextCharacters));
  return {
    id: record.id,
    version: record.version,
    name: text(manifest.name),
    description: text(manifest.description),
    license: text(manifest.license ?? ""),
    publisher: record.publisher,
    fingerprint: fingerprintOf(record.publisher),
    size,
    sha256,
    files: files.size + 1,
    permissions: Object.keys(manifest.permissions),
    requests: [
      ...describePermissions(manifest.permissions),
      ...manifest.models.map((model) => text(runsModel(modelWords(model)))),
    ],
    hosts: (manifest.resources.allowed_hosts ?? []).map(text),
    source,
  };
}
