import { useCallback, useEffect, useState } from "preact/hooks";
import type { AclEntryJson, PermissionName } from "../../../src/api/shapes.ts";
import { api, isConflict, textOf } from "../model/api.ts";
import { visible } from "../model/formats.ts";
import { Banner } from "../parts/banner.tsx";
import { Button, IconButton } from "../parts/button.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useMayEdit, useSession } from "../parts/session-context.ts";
import { RightsView } from "./rights-view.tsx";

const PERMISSIONS: readonly PermissionName[] = ["read", "write", "create", "delete", "admin"];
const SCHEMES = ["world", "auth", "digest", "ip", "x509", "sasl"] as const;
const CHANGED = "The access list was changed meanwhile. Cancel to see it, and edit it again.";
const ANYONE: AclEntryJson = { scheme: "world", id: "anyone", permissions: ["read"] };

interface AclTabProps {
  readonly path: string;
  /** As the Stat has it now. */
  readonly aversion: number | undefined;
  /** The user may not change it. */
  readonly isForbidden: boolean;
  readonly onSaved: () => void;
}

/** The access list, and its editor: it is saved over the version that was read. */
export function AclTab({ path, aversion, isForbidden, onSaved }: AclTabProps) {
  const [saved, setSaved] = useState<{ readonly acl: readonly AclEntryJson[]; readonly version: number }>();
  const [edited, setEdited] = useState<readonly AclEntryJson[]>();
  const [error, setError] = useState<string>();
  const mayEdit = useMayEdit() && !isForbidden;
  const notify = useNotify();
  const read = useCallback(() => {
    api.acl(path).then(
      ({ acl, stat }) => {
        setSaved({ acl, version: stat.aversion });
        setError(undefined);
      },
      (reason: unknown) => setError(textOf(reason)),
    );
  }, [path]);
  useEffect(() => {
    if (edited === undefined) read();
  }, [read, aversion]);
  if (saved === undefined) {
    return (
      <>
        <Failure text={error} />
        {error !== undefined && <RightsView path={path} aversion={aversion} />}
      </>
    );
  }
  const save = (event: Event): void => {
    event.preventDefault();
    if (edited === undefined) return;
    api.setAcl(path, edited, saved.version).then(
      ({ stat }) => {
        notify(`Saved the access list of ${visible(path)} as version ${stat.aversion}`);
        setSaved({ acl: edited, version: stat.aversion });
        setEdited(undefined);
        read();
        onSaved();
      },
      (reason: unknown) => setError(isConflict(reason) ? CHANGED : textOf(reason)),
    );
  };
  const entries = edited ?? saved.acl;
  const change = (at: number, entry: AclEntryJson): void => setEdited(entries.with(at, entry));
  return (
    <>
      <form class="acl" onSubmit={save}>
        <section class="table-scroll" tabIndex={0} aria-label="Entries">
          <table>
            <caption class="hidden">Access list</caption>
            <thead>
              <tr>
                <th scope="col">Scheme</th>
                <th scope="col">Identity</th>
                {PERMISSIONS.map((name) => (
                  <th key={name} scope="col" class="center">
                    {name}
                  </th>
                ))}
                {edited !== undefined && (
                  <th scope="col">
                    <span class="hidden">Remove</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, i) => (
                <Entry
                  key={i}
                  entry={entry}
                  number={i + 1}
                  onChange={edited === undefined ? undefined : (next) => change(i, next)}
                  onRemove={() => setEdited(entries.toSpliced(i, 1))}
                />
              ))}
            </tbody>
          </table>
        </section>
        <Failure text={error} />
        <Warnings entries={entries} isEdited={edited !== undefined} />
        <div class="toolbar">
          <span class="hint">Version {saved.version}</span>
          <span class="spacer" />
          {edited === undefined
            ? mayEdit && <Button icon="edit" text="Edit access" class="primary" onClick={() => setEdited(saved.acl)} />
            : [
                <Button icon="plus" text="Add an entry" key="add" onClick={() => setEdited([...entries, ANYONE])} />,
                <Button
                  text="Cancel"
                  key="cancel"
                  onClick={() => {
                    setEdited(undefined);
                    read();
                  }}
                />,
                <Button text="Save access" key="save" type="submit" class="primary" disabled={entries.length === 0} />,
              ]}
        </div>
      </form>
      <RightsView path={path} aversion={saved.version} />
    </>
  );
}

interface EntryProps {
  readonly entry: AclEntryJson;
  readonly number: number;
  /** Undefined: it is only shown. */
  readonly onChange: ((entry: AclEntryJson) => void) | undefined;
  readonly onRemove: () => void;
}

function Entry({ entry, number, onChange, onRemove }: EntryProps) {
  const { scheme, id, permissions } = entry;
  const { user } = useSession();
  const schemes = SCHEMES.some((known) => known === scheme) ? SCHEMES : [...SCHEMES, scheme];
  const changeScheme = (next: string): void => {
    onChange?.({
      ...entry,
      scheme: next,
      id: next === "world" ? "anyone" : next === "auth" ? "" : id === "anyone" ? "" : id,
    });
  };
  const toggle = (name: PermissionName): void => {
    const next = PERMISSIONS.filter((each) => permissions.includes(each) !== (each === name));
    onChange?.({ ...entry, permissions: next });
  };
  return (
    <tr>
      <td>
        {onChange === undefined ? (
          <code>{visible(scheme)}</code>
        ) : (
          <select
            aria-label={`Scheme of entry ${number}`}
            value={scheme}
            onChange={(event) => changeScheme(event.currentTarget.value)}
          >
            {schemes.map((each) => (
              <option key={each} value={each} disabled={each === "auth" && user === null}>
                {each}
              </option>
            ))}
          </select>
        )}
      </td>
      <td class="grow-cell">
        {onChange === undefined || scheme === "world" || scheme === "auth" ? (
          <code>{scheme === "auth" ? `you, ${user}` : visible(id)}</code>
        ) : (
          <input
            aria-label={`Identity of entry ${number}`}
            required
            spellcheck={false}
            value={id}
            placeholder={scheme === "digest" ? "user:base64-of-hash" : scheme === "ip" ? "10.0.0.0/8" : ""}
            onInput={(event) => onChange({ ...entry, id: event.currentTarget.value })}
          />
        )}
      </td>
      {PERMISSIONS.map((name) => (
        <td key={name} class="center">
          {onChange === undefined ? (
            <span class={permissions.includes(name) ? "yes" : "no"}>
              <span class="hidden">{permissions.includes(name) ? "yes" : "no"}</span>
              {permissions.includes(name) ? <Icon name="check" /> : <span aria-hidden="true">–</span>}
            </span>
          ) : (
            <input
              type="checkbox"
              aria-label={`Entry ${number} may ${name}`}
              checked={permissions.includes(name)}
              onChange={() => toggle(name)}
            />
          )}
        </td>
      ))}
      {onChange !== undefined && (
        <td>
          <IconButton label={`Remove entry ${number}`} icon="close" onClick={onRemove} />
        </td>
      )}
    </tr>
  );
}

/** The effects of a list for everyone, and for its own change. */
function Warnings({ entries, isEdited }: { readonly entries: readonly AclEntryJson[]; readonly isEdited: boolean }) {
  const world = entries.filter(({ scheme }) => scheme === "world").flatMap(({ permissions }) => permissions);
  const admins = entries.filter(({ permissions }) => permissions.includes("admin"));
  return (
    <>
      {world.length > 0 && (
        <p class="hint">Every client may {[...new Set(world)].join(", ")}, without authentication.</p>
      )}
      {isEdited && admins.length === 0 && (
        <Banner kind="warning">No entry has admin: only the superuser could change this list again.</Banner>
      )}
    </>
  );
}
