import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { NodeJson, WrittenData } from "../../../src/api/shapes.ts";
import { api, isConflict, textOf } from "../model/api.ts";
import { basket } from "../model/basket.ts";
import { prettyJson, visible } from "../model/formats.ts";
import { withLineEndsOf, withNewlines } from "../model/line-ends.ts";
import { firstMark, mergeLines } from "../model/line-merge.ts";
import {
  guessedFormat,
  problemsOf,
  TEXT_FORMAT_NAMES,
  TEXT_FORMATS,
  type TextFormat,
  type TextProblem,
} from "../model/text-checks.ts";
import { Banner } from "../parts/banner.tsx";
import { Button } from "../parts/button.tsx";
import { Diff } from "../parts/diff.tsx";
import { Failure } from "../parts/failure.tsx";
import { SelectField } from "../parts/fields.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNotify } from "../parts/notices.tsx";
import { useLiveState } from "../parts/use-live-state.ts";
import { ConflictView } from "./conflict-view.tsx";

interface DataEditorProps {
  /** As it is now: it changes while it is edited. */
  readonly node: NodeJson;
  readonly isGone: boolean;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The version that the editor began with. */
interface Base {
  /** With its own line ends. */
  readonly text: string;
  readonly version: number;
}

/**
 * Edits text, or bytes as base64; shows the difference before it saves, over the version that it
 * began with.
 */
export function DataEditor({ node, isGone, onClose, onSaved }: DataEditorProps) {
  const [isText] = useState(node.data === null || node.data.text !== undefined);
  const textOfNode = (from: NodeJson): string => (isText ? from.data?.text : from.data?.base64) ?? "";
  const [base, setBase] = useState<Base>(() => ({ text: textOfNode(node), version: node.stat.version }));
  // A text area has only newlines; what is saved has the line ends of what is there.
  const [text, setText] = useState(withNewlines(base.text));
  const isChanged = text !== withNewlines(base.text);
  const edited = (): WrittenData =>
    isText ? { text: withLineEndsOf(base.text, text) } : { base64: text.replace(/\s/g, "") };
  const [step, setStep] = useState<"edit" | "review" | "conflict">("edit");
  const [theirs, setTheirs] = useState<Base>();
  const [isMerged, setMerged] = useState(false);
  const [error, setError] = useState<string>();
  const [isSaving, setSaving] = useState(false);
  const [format, setFormat] = useState<TextFormat | undefined>(() =>
    isText ? guessedFormat(node.path, base.text) : undefined,
  );
  const [problems, setProblems] = useState<readonly TextProblem[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const saveButton = useRef<HTMLButtonElement>(null);
  const backButton = useRef<HTMLButtonElement>(null);
  const notify = useNotify();
  const isConnected = useLiveState() !== "lost";
  const isOutdated = node.stat.version !== base.version;
  // Before it is seen: what is typed at once is typed here.
  useLayoutEffect(() => {
    if (step === "edit") area.current?.focus();
    if (step === "review") (problems.length === 0 ? saveButton : backButton).current?.focus();
  }, [step]);

  const review = (): void => {
    // What was merged is no text to save while both sides of a conflict are in it.
    const mark = isMerged ? firstMark(text) : undefined;
    if (mark !== undefined) return setError(`Line ${mark} begins a conflict: choose a side, and remove its marks.`);
    setError(undefined);
    const checked = format === undefined ? Promise.resolve([]) : problemsOf(text, format);
    checked.then(
      (found) => {
        setProblems(found);
        setStep("review");
      },
      (reason: unknown) => setError(textOf(reason)),
    );
  };
  const save = (over: Base): void => {
    setSaving(true);
    setError(undefined);
    api
      .set(node.path, edited(), over.version)
      .then(
        ({ stat }) => {
          notify(`Saved ${visible(node.path)} as version ${stat.version}`);
          onSaved();
        },
        async (reason: unknown) => {
          if (isConflict(reason)) return showConflict();
          setError(textOf(reason));
        },
      )
      .finally(() => setSaving(false));
  };
  const gather = (): void => {
    try {
      basket.add({ op: "set", path: node.path, data: edited(), version: base.version, before: base.text });
      notify(`The transaction replaces the data of ${visible(node.path)}`);
      onClose();
    } catch (reason) {
      setError(textOf(reason));
    }
  };
  const showConflict = async (): Promise<void> => {
    try {
      const found = await api.node(node.path, true);
      setTheirs({ text: textOfNode(found), version: found.stat.version });
      setStep("conflict");
    } catch (reason) {
      setError(textOf(reason));
    }
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if ((event.ctrlKey || event.metaKey) && (event.key === "Enter" || event.key === "s")) {
      event.preventDefault();
      if (step === "edit" && isChanged && isConnected) review();
      else if (step === "review" && problems.length === 0 && isConnected) save(base);
    } else if (event.key === "Escape" && step === "review") setStep("edit");
    else if (event.key === "Escape" && step === "edit" && !isChanged) onClose();
  };

  if (step === "conflict" && theirs !== undefined) {
    const [before, after] = [withNewlines(base.text), withNewlines(theirs.text)];
    const merge = isText ? mergeLines(before, text, after) : undefined;
    return (
      <ConflictView
        base={{ text: before, version: base.version }}
        mine={text}
        theirs={{ text: after, version: theirs.version }}
        merge={merge}
        onMerge={() => {
          setText(merge?.text ?? text);
          setMerged(true);
          setBase(theirs);
          setStep("edit");
        }}
        onMine={() => save(theirs)}
        onTheirs={() => {
          onSaved();
        }}
        onEdit={() => {
          setBase(theirs);
          setStep("edit");
        }}
      />
    );
  }
  const formatted = isText ? prettyJson(text) : undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: shortcuts of the fields within
    <div class="editor" onKeyDown={onKeyDown}>
      {!isConnected && (
        <Banner kind="warning" role="status">
          Disconnected: your text is kept, and can be saved after the connection is back.
        </Banner>
      )}
      {(isOutdated || isGone) && (
        <Banner kind="warning" role="status">
          {isGone
            ? "This node was deleted meanwhile."
            : `This node was changed meanwhile: it has version ${node.stat.version}, and you edit version ${base.version}.`}
        </Banner>
      )}
      {step === "edit" ? (
        <>
          <textarea
            ref={area}
            aria-label={isText ? "Data" : "Data as base64"}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <Failure text={error} />
          <div class="toolbar">
            {formatted !== undefined && formatted !== text && (
              <Button text="Format JSON" onClick={() => setText(formatted)} />
            )}
            {isText && (
              <SelectField
                label="Check as"
                isInline
                value={format ?? ""}
                options={[
                  { id: "", label: "nothing" },
                  ...TEXT_FORMATS.map((id) => ({ id, label: TEXT_FORMAT_NAMES[id] })),
                ]}
                onChange={(id) => setFormat(id === "" ? undefined : id)}
              />
            )}
            <span class="hint">
              {isText ? "Text" : "Base64"}, version {base.version}
            </span>
            <span class="spacer" />
            <Button text="Cancel" onClick={onClose} />
            <Button text="Review" class="primary" disabled={!isChanged || !isConnected} onClick={review} />
          </div>
        </>
      ) : (
        <>
          <h2>Changes to version {base.version}</h2>
          {problems.length > 0 && format !== undefined && (
            <div class="banner warning" role="alert">
              <Icon name="warning" />
              <span>
                This is not valid as {TEXT_FORMAT_NAMES[format]}:
                <ul class="plain">
                  {problems.map(({ line, text: what }) => (
                    <li key={`${line} ${what}`}>
                      {line === undefined ? "" : `line ${line}: `}
                      {visible(what)}
                    </li>
                  ))}
                </ul>
              </span>
            </div>
          )}
          <Diff before={withNewlines(base.text)} after={text} />
          <Failure text={error} />
          <div class="toolbar">
            <span class="spacer" />
            <Button text="Back" ref={backButton} onClick={() => setStep("edit")} />
            {problems.length === 0 && (
              <Button text="Add to the transaction" disabled={isSaving || !isConnected} onClick={gather} />
            )}
            <Button
              text={problems.length > 0 ? "Save anyway" : "Save"}
              ref={saveButton}
              class={problems.length > 0 ? "danger" : "primary"}
              disabled={isSaving || !isConnected}
              onClick={() => save(base)}
            />
          </div>
        </>
      )}
    </div>
  );
}
