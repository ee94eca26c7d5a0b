interface NotesProps {
  readonly notes: readonly string[] | undefined;
  readonly class: string;
}

/** Notes of an answer about itself, such as members that are missing in it. */
export function Notes({ notes, class: name }: NotesProps) {
  return notes?.map((note) => (
    <p key={note} class={name}>
      {note}
    </p>
  ));
}
