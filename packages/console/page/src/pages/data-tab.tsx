import { useEffect, useRef, useState } from "preact/hooks";
import type { NodeJson } from "../../../src/api/shapes.ts";
import { bestFormat, bytesOf, FORMATS, type Format, SHOWN_CHARS_MAX, shownAs, visible } from "../model/formats.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { isTyping } from "../parts/is-typing.ts";
import { useMayEdit } from "../parts/session-context.ts";
import { useWindowEvent } from "../parts/use-window-event.ts";
import { DataEditor } from "./data-editor.tsx";

const LABELS: Readonly<Record<Format, string>> = {
  text: "Text",
  json: "JSON",
  yaml: "YAML",
  xml: "XML",
  properties: "Properties",
  hex: "Hex",
  base64: "Base64",
  gzip: "Gzip",
};

interface DataTabProps {
  readonly node: NodeJson;
  readonly isGone: boolean;
  /** The last read has failed: what is shown is from before. */
  readonly isRefused: boolean;
  /** The access list lets the user read it and not write it. */
  readonly isForbidden: boolean;
  readonly onSaved: () => void;
  readonly onReveal: () => void;
}

export function DataTab({ node, isGone, isRefused, isForbidden, onSaved, onReveal }: DataTabProps) {
  const { data, isMasked } = node;
  const [chosen, setChosen] = useState<Format>();
  const [shown, setShown] = useState<string | undefined>("");
  const [isEditing, setEditing] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  const isEditor = useMayEdit();
  const mayEdit = isEditor && !isForbidden;
  const format = chosen ?? (data === null ? "text" : bestFormat(data));
  useEffect(() => {
    if (data === null) return setShown("");
    let isCurrent = true;
    void shownAs(data, format).then((text) => isCurrent && setShown(text));
    return () => {
      isCurrent = false;
    };
  }, [data, format]);
  useWindowEvent("keydown", (event) => {
    if (!mayEdit || isMasked || isRefused) return;
    if (event.key !== "e" || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setEditing(true);
  });
  // The editor's buttons are gone with it: the focus returns to where it came from.
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing) {
    return (
      <DataEditor
        node={node}
        isGone={isGone}
        onClose={() => setEditing(false)}
        onSaved={() => {
          setEditing(false);
          onSaved();
        }}
      />
    );
  }
  if (isMasked) {
    return (
      <div class="empty">
        <Icon name="lock" />
        <p>The name of this node looks like a secret's, so its data is hidden.</p>
        {isEditor && <Button text="Show it" onClick={onReveal} />}
      </div>
    );
  }
  const isCut = shown !== undefined && shown.length > SHOWN_CHARS_MAX;
  return (
    <>
      <div class="toolbar">
        <fieldset class="segments" aria-label="Format">
          {FORMATS.map((each) => (
            <Button text={LABELS[each]} key={each} aria-pressed={each === format} onClick={() => setChosen(each)} />
          ))}
        </fieldset>
        <span class="spacer" />
        {data !== null && (
          <IconButton
            label="Download the data"
            icon="download"
            title="Download"
            onClick={() => download(data.base64)}
          />
        )}
        {isEditor && isForbidden && <span class="hint">You may not write this node</span>}
        {mayEdit && (
          <Button
            icon="edit"
            text="Edit"
            ref={editButton}
            class="primary"
            disabled={isRefused}
            title="Edit (e)"
            onClick={() => setEditing(true)}
          />
        )}
      </div>
      {shown === undefined ? (
        <p class="hint">The data is not {LABELS[format]}.</p>
      ) : shown === "" ? (
        <p class="hint">{data === null ? "No data (null)." : "Empty."}</p>
      ) : (
        <section class="block data" tabIndex={0} aria-label="Data">
          <pre>{visible(isCut ? shown.slice(0, SHOWN_CHARS_MAX) : shown)}</pre>
        </section>
      )}
      {isCut && <p class="hint">Only the beginning is shown; the download has all of it.</p>}
    </>
  );
}

/** Always as a file with a fixed name, never opened. */
function download(base64: string): void {
  const url = URL.createObjectURL(new Blob([bytesOf(base64)], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = "znode-data.bin";
  link.click();
  URL.revokeObjectURL(url);
}
