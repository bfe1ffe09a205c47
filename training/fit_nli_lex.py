r"""The weights of NLI+lex from judged answers: `semantic-metrics fit`, run from the repository.

The shipped weights, with no question that their model was trained on or that the benchmark judges them by:

    python -m training.fit_nli_lex DATA/evouna/nq.parquet --answer candidate --label human_label --separator / \
        --exclude runs/judged/train.parquet --exclude DATA/diver_qa/sample.parquet \
        --exclude DATA/openqa_eval/nq301.parquet --form rich --long --output model_cards/nli/nli_lex.json

and the same with `--form paper` and without `--long`, which the file keeps beside them.
"""

from semantic_metrics.cli.fit import fit

if __name__ == "__main__":
    fit()
