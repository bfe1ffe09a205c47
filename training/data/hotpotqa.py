r"""Answers to HotpotQA, judged: what the NLI+lex paper calibrates its weights on (Balamurali and Cheng, appendix B).

    python -m training.data.hotpotqa --config training/configs/hotpotqa.yaml --data DATA --output runs/hotpotqa.csv \
        --endpoint http://127.0.0.1:8000/v1 --model llama --model mistral --judge llama
    semantic-metrics fit runs/hotpotqa.csv --metric nli_lex --form paper --output runs/nli_lex.json

HotpotQA has questions and right answers. The paper takes 5,000 questions outside its test set; it says neither which
models answered them nor who judged. Here the models of an OpenAI-compatible endpoint answer in turn, a question each.
--judge names the model that judges them; without it the column `label` is empty, for people to fill in with 1 or 0.
Without --endpoint the column `answer` is empty too. SEMANTIC_METRICS_API_KEY holds the key. Replies are kept beside the
output as they come, and none is asked for twice.
"""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import pandas as pd

from semantic_metrics.core.progress import with_progress
from semantic_metrics.endpoint import JsonEndpoint, chat_endpoint
from semantic_metrics.fitting.judged_answers import question_key
from training.data.config_files import read_yaml
from training.data.run_arguments import add_data_argument
from training.data.sources import Entry, check_columns, normalise, read_excluded, take_limit

COLUMNS = ["question", "answer", "reference", "label", "model"]  # of the file that is written
ANSWER_PROMPT = "Answer the question in one or two sentences.\n\n{question}"
MAX_ANSWER_TOKENS = 200
JUDGE_PROMPT = """\
Question: {question}
Reference answer: {reference}
Candidate answer: {answer}

Does the candidate answer match the reference answer? It does if it says the same in other words, or names the same
person, place or number. Reply with 1 if it does and with 0 if it does not, and with nothing else."""


@dataclass(frozen=True, kw_only=True)
class QuestionSource(Entry):
    """A table of questions and their right answers.

    Attributes:
        question, answer: columns.
    """

    question: str = "question"
    answer: str = "answer"

    def load(self, data: Path | None, excluded: frozenset[str]) -> tuple[pd.DataFrame, Counter]:
        """Columns question and reference, each question once, and counts of what was kept and dropped.

        Args:
            data: folder that relative paths begin in.
            excluded: questions that are left out, as `question_key` writes them.

        Raises:
            ValueError: a file or column is missing, or nothing is left.
        """
        rows = self.table.read(data)
        check_columns(rows, [self.question, self.answer], self.name)
        rows = rows[[self.question, self.answer]].set_axis(["question", "reference"], axis=1)
        counts = Counter(rows=len(rows))
        blank = rows.map(lambda text: not isinstance(text, str) or not normalise(text)).any(axis=1)
        counts["dropped: empty text"] = int(blank.sum())
        rows = rows[~blank]
        keys = rows["question"].map(question_key)
        held_out, repeated = keys.isin(excluded), keys.duplicated()
        counts["dropped: in an evaluation set"] = int(held_out.sum())
        counts["dropped: repeated"] = int((repeated & ~held_out).sum())
        rows = take_limit(rows[~held_out & ~repeated], self.limit, counts)
        if rows.empty:
            raise ValueError(f"{self.name}: no question is left ({dict(counts)})")
        counts["kept"] = len(rows)
        return rows, counts


@dataclass(frozen=True)
class QuestionConfig:
    """The tables, and `exclude`: tables with `columns` of questions that are left out."""

    train: list[QuestionSource]
    exclude: list[dict] = field(default_factory=list)


def answer_question(endpoint: JsonEndpoint, model: str, question: str) -> str:
    """A model's answer to a question, at temperature 0; "" if its reply is empty.

    Raises:
        EndpointError: the endpoint cannot be reached, refuses, or answers something unexpected.
    """
    messages = [{"role": "user", "content": ANSWER_PROMPT.format(question=question)}]
    content, _ = endpoint.chat(model, messages, temperature=0, max_tokens=MAX_ANSWER_TOKENS)
    return " ".join(str(content or "").split())


def judge_answer(endpoint: JsonEndpoint, model: str, question: str, references: list[str], answer: str) -> int | None:
    """A model's judgement of an answer, at temperature 0: 1, 0, or None where its reply begins with neither.

    Like in the paper (appendix C), the server lets the model write nothing else, if it can (`JsonEndpoint.choose`).

    Raises:
        EndpointError: the endpoint cannot be reached, refuses, or answers something unexpected.
    """
    text = JUDGE_PROMPT.format(question=question, reference=" or ".join(references), answer=answer)
    choice = endpoint.choose(model, [{"role": "user", "content": text}], ("1", "0"), temperature=0)
    return None if choice is None else int(choice)


def answer_all(rows: pd.DataFrame, endpoint: JsonEndpoint, models: list[str], judge: str | None) -> pd.DataFrame:
    """Have models answer questions in turn, and another one judge them.

    Args:
        rows: columns question and reference.
        endpoint: chat completions of a server.
        models: its names of the models that answer.
        judge: its name of the model that judges; None leaves the labels missing.

    Returns:
        The columns COLUMNS; a judge's unclear reply is a missing label.

    Raises:
        EndpointError: the endpoint cannot be reached, refuses, or answers something unexpected.
    """
    answered = []
    asked = with_progress(rows.itertuples(index=False, name=None), "question", len(rows))
    for (question, reference), model in zip(asked, cycle(models), strict=False):
        answer = answer_question(endpoint, model, question)
        label = None if judge is None else judge_answer(endpoint, judge, question, [reference], answer)
        answered.append((question, answer, reference, label, model))
    return pd.DataFrame(answered, columns=COLUMNS).astype({"label": "Int64"})


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True, help="A YAML file; see QuestionConfig.")
    add_data_argument(parser)
    parser.add_argument("--output", type=Path, required=True, help="CSV file to write.")
    parser.add_argument("--endpoint", metavar="URL", help="OpenAI-compatible server, up to /v1.")
    parser.add_argument("--model", action="append", default=[], help="The server's name of a model that answers.")
    parser.add_argument("--judge", help="The server's name of the model that judges.")
    arguments = parser.parse_args()
    if (arguments.endpoint is None) != (not arguments.model) or (arguments.judge and arguments.endpoint is None):
        parser.error("--endpoint, --model: expected both or neither, and both with --judge")
    try:
        config = read_yaml(arguments.config, QuestionConfig)
        excluded, parts = frozenset(map(question_key, read_excluded(config.exclude, arguments.data))), []
        for source in config.train:
            rows, counts = source.load(arguments.data, excluded)
            sys.stdout.write(f"{source.name}: {dict(counts)}\n")
            parts.append(rows)
        rows = pd.concat(parts, ignore_index=True)
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        if arguments.endpoint is None:
            answered = rows.reindex(columns=COLUMNS)
        else:
            kept = arguments.output.with_suffix(".replies.jsonl")
            answered = answer_all(rows, chat_endpoint(arguments.endpoint, kept=kept), arguments.model, arguments.judge)
        if arguments.judge:
            unclear = answered["label"].isna()
            sys.stdout.write(f"{unclear.sum()} replies of the judge were neither 1 nor 0: dropped\n")
            answered = answered[~unclear]
        answered.to_csv(arguments.output, index=False)
    except (OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
