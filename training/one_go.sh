#!/usr/bin/env bash
# Trains `large`, lets it judge the pairs, and trains `pairs` from its logits, in one go, on a machine with a GPU and no network.
#   training/one_go.sh pack MPNET DATA CARGO [WHEELS]   here: all that a run reads, in folders of 50 MB, CARGO/00, CARGO/01 ...
#   training/one_go.sh run CARGO WORK [--steps 3]       there: WORK/results has both checkpoints and the logits, in files of 15 MB (some 12)
#   training/one_go.sh join RESULTS FOLDER              here again
# MPNET is all-mpnet-base-v2, and the tables of runs/ are made by the commands in the header of pairs.yaml. WHEELS is a
# folder of packages that the other machine lacks. `large.yaml` is for two cores: here all layers are trained, in two passes,
# and `pairs` reads every logit.
# PAIRS=200 in the environment lets the teacher judge so few, to try it.
set -euo pipefail
CONFIGS=training/configs
PYTHON=${PYTHON:-python}

pack() { # $1 base weights, $2 data, $3 cargo, $4 wheels
    local work
    work=$(mktemp -d)
    cp -r "$1" "$work/base"
    "$PYTHON" -c "import sys; from sentence_transformers import SentenceTransformer as S; S(sys.argv[1], device='cpu').half().save(sys.argv[1])" "$work/base"
    mkdir -p "$work/data" "$work/wheels" "$3"
    grep -hoE '\bpath: [^,} ]+' $CONFIGS/cross_encoder/{large,pairs}.yaml $CONFIGS/data/{taught_pairs,paired_anew}.yaml | cut -c7- | sort -u |
        grep -v '^./' | tar -C "$2" -cT - | tar -C "$work/data" -x
    [ -z "${4:-}" ] || cp "$4"/*.whl "$work/wheels/"
    tar -c runs/{judged,denials,swaps_large,swaps_order}/*.parquet | tar -C "$work" -x
    tar -C "$work" -c . | split -b 50m -d - "$3/part."
    for part in "$3"/part.*; do mkdir -p "$3/${part##*.}" && mv "$part" "$3/${part##*.}/part"; done
    rm -r "$work"
}

run() { # $1 cargo, $2 work, then options of a training
    local cargo=$1 work=$2
    shift 2
    mkdir -p "$work" && cat "$cargo"/*/part | tar -C "$work" -x
    [ -z "$(ls "$work/wheels")" ] || pip install -q --no-index --no-deps "$work"/wheels/*.whl
    mkdir -p runs && cp -r "$work"/runs/* runs/
    "$PYTHON" training/train_cross_encoder.py --config $CONFIGS/cross_encoder/large.yaml --init "$work/base" --data "$work/data" \
        --output "$work/large" --set frozen_layers=null epochs=2 "$@"
    "$PYTHON" -m training.label_pairs --config $CONFIGS/data/taught_pairs.yaml --teacher "$work/large/checkpoint" --data "$work/data" \
        --output "$work/large.safetensors" ${PAIRS:+--limit "$PAIRS"}
    "$PYTHON" -m training.label_pairs --config $CONFIGS/data/taught_pairs.yaml --teacher "$work/large.safetensors" \
        --data "$work/data" --output runs/taught_pairs.parquet
    "$PYTHON" -m training.label_pairs --config $CONFIGS/data/paired_anew.yaml --teacher "$work/large/checkpoint" \
        --rating-encoder "$work/base" --data "$work/data" --output runs/paired_anew.parquet
    sed 's/limit: 120000/limit: null/' $CONFIGS/cross_encoder/pairs.yaml > "$work/pairs.yaml"
    "$PYTHON" training/train_cross_encoder.py --config "$work/pairs.yaml" --data "$work/data" --output "$work/pairs" \
        --init "$work/large/checkpoint" --set epochs=3 "$@"
    "$PYTHON" -m training.shrink "$work/pairs/checkpoint" --data "$work/data" --output "$work/pairs_shrunk"
    "$PYTHON" -m training.shrink "$work/large/checkpoint" --data "$work/data" --output "$work/shrunk"
    mkdir -p "$work/results"
    tar -C "$work" -c shrunk large.safetensors pairs_shrunk | split -b 15m -d - "$work/results/part."
}

join() { # $1 results, $2 folder
    mkdir -p "$2" && cat "$1"/part.* | tar -C "$2" -x
}

case "${1:-}" in
    pack | run | join) "$@" ;;
    *) sed -n '2,8s/^# //p' "$0" && exit 2 ;;
esac
