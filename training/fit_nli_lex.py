r"""The weights of NLI+lex from judged answers: `semantic-metrics fit`, run from the repository.

The shipped weights, with no question of the sets that the benchmark judges by them:

    python -m training.fit_nli_lex DATA/evouna/nq.parquet DATA/sas_answers/nq_open_with_question.parquet \
        --answer candidate --label human_label --label label --separator / --separator "" \
        --exclude DATA/diver_qa/sample.parquet --exclude DATA/openqa_eval/nq301.parquet \
        --output model_cards/nli/nli_lex.json --plot reliability.png
"""

from semantic_metrics.fit import fit

if __name__ == "__main__":
    fit()
